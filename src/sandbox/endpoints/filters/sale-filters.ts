import { DAY, HOUR } from '../../world/instants.js';
import { flag, integer, moment } from '../parameter.js';
import { type Filter, lotFilter, lotSwitch } from './condition.js';

/** Filters on the date of the auction (service.md, `/cars`); a lot without one passes only where that is said. */
export const saleFilters = {
  without_sale_date: lotSwitch(flag('1 keeps to lots without an auction date'), (lot) => lot.saleAt === null),
  sale_date_in_days: lotFilter(
    integer('auction later than this many days ago; sale_date_from takes priority'),
    (lot, days, clock) => lot.saleAt !== null && lot.saleAt > clock - days * DAY,
  ),
  sale_date_from: lotFilter(
    moment('auction later than this, UTC'),
    (lot, at) => lot.saleAt !== null && lot.saleAt > at,
  ),
  sale_date_to: lotFilter(
    moment('auction earlier than this, UTC'),
    (lot, at) => lot.saleAt !== null && lot.saleAt < at,
  ),
  exclude_expired_auctions: lotSwitch(
    flag('1 keeps to lots without an auction date or with one to come'),
    (lot, clock) => lot.saleAt === null || lot.saleAt > clock,
  ),
  next_hours_auction: lotFilter(
    integer('auction within this many hours from now'),
    (lot, hours, clock) => lot.saleAt !== null && lot.saleAt > clock && lot.saleAt <= clock + hours * HOUR,
  ),
} as const satisfies Record<string, Filter>;
