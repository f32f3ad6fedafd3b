import { enumerations } from '../contract/enumerations.js';
import { code, enumerated, flag, integer, moment, severalOf, text } from './kinds.js';
import { optional } from './parameter.js';

/** Filters on what a lot is (service.md, `/cars`). */
export const lotParameters = {
  search_query: optional(text, 'VIN or lot number.'),
  status: optional(
    enumerated(enumerations.lot_status, 'for several ids use status[]'),
    'Only lots of this status; not together with status[].',
  ),
  'status[]': optional(
    severalOf(enumerations.lot_status),
    'Only lots of these statuses; not together with status.',
  ),
  document_title: optional(text, 'Part of the title document.'),
  condition: optional(enumerated(enumerations.condition), 'Only lots in this condition.'),
  country: optional(code, 'Country where the lot stands, such as US, CA or KR.'),
  state_code: optional(code, 'State where the lot stands, such as CA or FL.'),
  damage: optional(text, 'Part of the main or second damage.'),
} as const;

/** Filters on figures of a lot (service.md, `/cars`). */
export const rangeParameters = {
  buy_now: optional(flag, 'True keeps to lots with a Buy Now price.'),
  odometer_from_km: optional(integer(), 'Lowest odometer in km.'),
  odometer_to_km: optional(integer(), 'Highest odometer in km.'),
  odometer_from_mi: optional(integer(), 'Lowest odometer in miles.'),
  odometer_to_mi: optional(integer(), 'Highest odometer in miles.'),
  buy_now_price_from: optional(integer(), 'Lowest Buy Now price.'),
  buy_now_price_to: optional(integer(), 'Highest Buy Now price.'),
  bid_price_from: optional(integer(), 'Lowest current bid.'),
  bid_price_to: optional(integer(), 'Highest current bid.'),
} as const;

/** Filters on the date of the auction (service.md, `/cars`). */
export const saleParameters = {
  without_sale_date: optional(flag, 'True keeps to lots without an auction date.'),
  sale_date_in_days: optional(
    integer(),
    'Auction later than this many days ago; sale_date_from takes priority.',
  ),
  sale_date_from: optional(moment, 'Auction later than this, YYYY-MM-DDTHH:MM:SS in UTC.'),
  sale_date_to: optional(moment, 'Auction earlier than this, YYYY-MM-DDTHH:MM:SS in UTC.'),
  exclude_expired_auctions: optional(flag, 'True keeps to lots without an auction date or with one to come.'),
  next_hours_auction: optional(integer(), 'Auction within this many hours from now.'),
} as const;
