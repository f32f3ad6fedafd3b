import { z } from 'zod';
import {
  AMOUNT,
  forms,
  id,
  integer,
  Kind,
  NUMBER_KINDS,
  named,
  number,
  numberText,
  text,
  timestamp,
  timestampText,
} from './field.js';

/** An amount of the archive feed: `{value, updated_at}`, or a plain number in the older form. */
const datedAmount = (what: string) => {
  const object = z.looseObject({
    value: number(`${what}.`, { unit: AMOUNT }),
    updated_at: timestamp(`When the service last updated: ${what.toLowerCase()}.`),
  });
  return forms(
    `${what}; older records give a plain number.`,
    z.union([z.number(), numberText, object]),
    NUMBER_KINDS | Kind.object,
    {
      lexical: 'number',
      object,
    },
  );
};

const saleDateObject = z.looseObject({
  value: timestamp('Date of the auction.'),
  updated_at: timestamp('When the service last updated the date of the auction.'),
});

/** One record of `/archived-lots`: flat, a lot that left the feed. */
export const archivedLotSchema = z.looseObject({
  archived_at: timestamp('When the lot was archived.'),
  lot_id: id('Id of the archived lot.'),
  car_id: integer('Vehicle the lot belonged to.'),
  vin: text('Vehicle identification number, often in lower case here.'),
  lot: text('Lot number on the source.'),
  domain: named('source platform', { values: 'domain' }),
  status: named('last lot status', { values: 'lot_status' }),
  bid: datedAmount('Last bid'),
  buy_now: datedAmount('Buy Now price; 0 means none'),
  sale_date: forms(
    'Date of the auction; older records give a plain timestamp.',
    z.union([timestampText, saleDateObject]),
    Kind.timestampText | Kind.object,
    { lexical: 'timestamp', object: saleDateObject },
  ),
  final_bid: datedAmount('Final bid'),
  final_bid_updated_at: timestamp('When the final bid was last updated, in the older form.'),
});
