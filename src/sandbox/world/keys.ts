import type { LotLife } from './lot-life.js';

const LOTS_A_VEHICLE = 16;
const FIRST_LOT_ID = 10_000_000;
const FIRST_LOT_NUMBER = 30_000_000;
const EXTERNAL_SHIFT = 160;

type Place = Pick<LotLife, 'index' | 'place'>;

const slot = (lot: Place): number => lot.index * LOTS_A_VEHICLE + lot.place;

/** Id of a lot, the same under whichever vehicle it stands. */
export const lotId = (lot: Place): number => FIRST_LOT_ID + slot(lot);

/** Number of the lot on its source: unique within the source, eight digits. */
export const lotNumber = (lot: Place): string => String(FIRST_LOT_NUMBER + slot(lot));

/** Id of the lot inside source 1; its digits collide with lot numbers of other lots (field-notes.md). */
export const externalId = (lot: Place): string => `${FIRST_LOT_NUMBER + slot(lot) + EXTERNAL_SHIFT}~US`;

/** Id of the attempt at a place (0 to 31) of a lot's auctions. */
export const priceId = (lot: Place, attempt: number): number => 1_000_000 + slot(lot) * 32 + attempt;

const place = (slot: number): Place => ({
  index: Math.floor(slot / LOTS_A_VEHICLE),
  place: ((slot % LOTS_A_VEHICLE) + LOTS_A_VEHICLE) % LOTS_A_VEHICLE,
});

/** Index and place of the lot that would have an id. */
export const lotOfId = (id: number): Place => place(id - FIRST_LOT_ID);

/** Index and place of the lot that would have a number. */
export const lotOfNumber = (number: number): Place => place(number - FIRST_LOT_NUMBER);

/** Index and place of the lot that would have an id inside source 1; undefined for a text that is none. */
export function lotOfExternalId(id: string): Place | undefined {
  const digits = /^(\d{1,12})(?:~US)?$/.exec(id)?.[1];
  return digits === undefined ? undefined : lotOfNumber(Number(digits) - EXTERNAL_SHIFT);
}
