import { z } from 'zod';
import {
  AMOUNT,
  anyForm,
  anyText,
  described,
  flag,
  forms,
  group,
  id,
  integer,
  json,
  Kind,
  list,
  named,
  number,
  text,
  textId,
  texts,
  timestamp,
} from './field.js';

/** One entry of `lots[].prices`: an auction attempt of the lot, present only with `prices_history=1`. */
const priceSchema = z.looseObject({
  id: textId('Id of the price entry.'),
  lot_id: integer('Lot the entry belongs to.'),
  bid: number('Highest bid of the attempt.', { unit: AMOUNT }),
  final_bid_updated_at: timestamp('When the service updated the result; not the moment of the hammer.'),
  buy_now_price: number('Buy Now price of the attempt; 0 means none.', { unit: AMOUNT }),
  sale_date: timestamp('Date of the auction.'),
  status: named('lot status after the attempt', { values: 'lot_status' }),
});

const sellerObject = z.looseObject({
  id: integer('Id of the seller.'),
  name: text('Name of the seller.'),
  logo: text('URL of the logo of the seller.'),
  is_insurance: flag('Whether the seller is an insurer.'),
  is_rental: flag('Whether the seller is a rental company.'),
  is_credit_company: flag('Whether the seller is a credit company.'),
});

const sellerTypeObject = z.looseObject({
  id: integer('Id of the seller type.', { values: 'seller_type' }),
  name: text('Name of the seller type.'),
});

const airbagsObject = z.looseObject({
  id: integer('Id of the airbag state.', { values: 'airbags' }),
  name: text('Name of the airbag state.'),
});

const sellingBranchObject = z.looseObject({
  name: text('Name of the selling branch.'),
  link: text('Link to the selling branch.', { unit: 'URL' }),
  number: anyText('Number of the selling branch, as text.'),
  id: integer('Id of the selling branch.'),
  domain_id: integer('Source of the selling branch.', { values: 'domain' }),
});

const titleSchema = (what: string) =>
  group(`The ${what}.`, {
    id: integer(`Id of the ${what}.`),
    code: text(`Code of the ${what}.`),
    name: text(`Name of the ${what}.`),
  });

const damage = (what: string) =>
  group(`The ${what}.`, {
    id: anyText(`Id of the ${what}, as in damages.damage_id.`),
    name: text(`Name of the ${what}.`),
  });

/** Photographs and films of a lot, as URLs. */
const imagesSchema = z.looseObject({
  id: integer('Id of the image set.'),
  small: texts('Small photographs.', { unit: 'URL' }),
  normal: texts('Photographs of normal size.', { unit: 'URL' }),
  big: texts('Large photographs.', { unit: 'URL' }),
  downloaded: texts('Copies of the photographs kept by the service.', { unit: 'URL' }),
  exterior: anyForm(
    'Frames of the outside view: a list of URLs, one, or any other value.',
    z.looseObject({}),
  ),
  interior: anyForm('Inside view: one URL, a list, or any other value.', z.looseObject({})),
  video: text('Film of the lot.', { unit: 'URL' }),
  video_youtube_id: text('Id of the film on YouTube.'),
  external_panorama_url: text('Panorama on another site.', { unit: 'URL' }),
});

/** Where a lot stands. */
const locationSchema = z.looseObject({
  country: group('Country of the lot.', { iso: text('Country code.'), name: text('Country name.') }),
  state: group('State of the lot.', {
    id: integer('Id of the state.'),
    code: text('State code.'),
    name: text('State name.'),
  }),
  city: named('city'),
  location: named('yard'),
  latitude: number('Latitude of the lot.', { unit: 'degrees' }),
  longitude: number('Longitude of the lot.', { unit: 'degrees' }),
  postal_code: text('Postal code of the lot.'),
  is_offsite: json('Off-site marker; its type is not documented, kept as it came.'),
  raw: text('Location as the source wrote it.'),
  offsite: json('Off-site details; their shape is not documented, kept as they came.'),
});

/** One lot: a vehicle on one source under one lot number. */
export const lotSchema = z.looseObject({
  id: id('Id of the lot.'),
  lot: text('Lot number on the source.'),
  domain: named('source platform', { values: 'domain' }),
  external_id: text('Id of the lot inside the source.'),
  odometer: group('Odometer reading.', {
    km: integer('Odometer in kilometres.', { unit: 'km' }),
    mi: integer('Odometer in miles; Canadian lots may hold kilometres here.', { unit: 'mi' }),
    status: named('odometer status', { values: 'odometer_status' }),
  }),
  estimate_repair_price: number('Estimated cost of repair.', { unit: AMOUNT }),
  pre_accident_price: number('Estimated value before the damage.', { unit: AMOUNT }),
  clean_wholesale_price: number('Wholesale value of a clean example.', { unit: AMOUNT }),
  actual_cash_value: number('Actual cash value.', { unit: AMOUNT }),
  sale_date: timestamp('Date of the auction; may lie in the future.'),
  sale_date_updated_at: timestamp('When the service last updated the date of the auction.'),
  bid: number('Current highest bid.', { unit: AMOUNT }),
  bid_updated_at: timestamp('When the service last updated the bid.'),
  buy_now: number('Buy Now price; 0 means none.', { unit: AMOUNT }),
  buy_now_updated_at: timestamp('When the service last updated the Buy Now price.'),
  final_bid: number('Last bid of the auction; a price only for a completed sale.', { unit: AMOUNT }),
  final_bid_updated_at: timestamp(
    'When the service last updated the final bid; not the moment of the hammer.',
  ),
  status: named('lot status', { values: 'lot_status' }),
  seller: forms(
    'The seller: a name, or an object.',
    z.union([z.string(), sellerObject]),
    Kind.text | Kind.object,
    { object: sellerObject },
  ),
  seller_type: forms(
    'Kind of seller: a name, or an object.',
    z.union([z.string(), sellerTypeObject]),
    Kind.text | Kind.object,
    { object: sellerTypeObject },
  ),
  title: titleSchema('title document'),
  detailed_title: titleSchema('detailed title document'),
  note: text('Free note of the source.'),
  damage: group('Damage of the vehicle.', { main: damage('main damage'), second: damage('second damage') }),
  keys_available: flag('Whether keys are there.'),
  airbags: anyForm('State of the airbags: an object, or any other value.', airbagsObject),
  condition: named('condition', { values: 'condition' }),
  grade_iaai: forms(
    'Grade given by source 1: a score from 0 to 50, or a text.',
    z.union([z.number(), z.string()]),
    Kind.integer | Kind.real | Kind.text,
  ),
  images: described(imagesSchema.nullish(), { description: 'Photographs and films of the lot.' }),
  location: described(locationSchema.nullish(), { description: 'Where the lot stands.' }),
  tags: forms(
    'Tags of the source: a list, or one.',
    z.union([z.array(z.unknown()), z.string()]),
    Kind.text | Kind.array,
  ),
  line: text('Line (lane) of the auction.'),
  selling_branch: anyForm('Branch that sells the lot: an object, or any other value.', sellingBranchObject),
  created_at: timestamp('When the service first stored the lot.'),
  updated_at: timestamp('When the service last updated the lot.'),
  details: json('Everything else the source said (large for source 12), kept whole.'),
  is_timed_auction: flag('Whether bids are taken over a period instead of live.'),
  timed_start_bid: number('Starting amount of a timed auction.', { unit: AMOUNT }),
  seller_reserve: group('Reserve of the seller; null where there is none.', {
    price: number('Reserve of the seller; neither a bid nor a sale price.', { unit: AMOUNT }),
    updated_at: timestamp('When the reserve was last updated.'),
  }),
  auction_type: named('auction type', { values: 'auction_type' }),
  archived: flag('Whether the lot is archived; null says nothing.'),
  archived_at: timestamp('When the lot was archived.'),
  prices: list(priceSchema, 'Auction attempts of the lot, unsorted.'),
});
