import wmis from '../data/wmi.json' with { type: 'json' };
import type { Population } from './population.js';
import { hash, Salt } from './random.js';

/** The characters of a VIN, without the letters that look like digits (ISO 3779). */
const CHARACTERS = '0123456789ABCDEFGHJKLMNPRSTUVWXYZ';
/** Values of these characters in the check digit. */
const VALUES = '012345678912345678123457923456789';
const WEIGHTS = [8, 7, 6, 5, 4, 3, 2, 10, 0, 9, 8, 7, 6, 5, 4, 3, 2];
/** Codes of the model years from 1980, repeated after 30 years. */
const YEARS = 'ABCDEFGHJKLMNPRSTVWXY123456789';

/** One VIN in this many disagrees with its record in one of three ways. */
const DISAGREES = 25;

/** The facts in a VIN. */
interface Stamped {
  readonly index: number;
  readonly domain: number;
  readonly model: { readonly id: number; readonly manufacturer: { readonly name: string } };
  readonly engine: { readonly id: number };
  readonly year: number;
}

/** The correct check digit of a VIN, whatever character is in its place. */
export function checkDigit(vin: string): string {
  const sum = WEIGHTS.reduce(
    (total, weight, place) => total + weight * Number(VALUES[CHARACTERS.indexOf(vin[place] ?? '0')]),
    0,
  );
  return '0123456789X'[sum % 11] ?? '';
}

/**
 * The VIN of a car by ISO 3779: maker, model and engine, check digit, model year, plant, serial number. It has its own
 * draws, so that the rest of the world keeps theirs. Cars of source 12 were built for Korea, where no rule requires a
 * check digit. In a few VINs the model year is off by one, the check digit is wrong, or the maker is another one.
 */
export function vinOf(world: Population, { index, domain, model, engine, year }: Stamped): string {
  const draw = hash(world.seed, index, Salt.vin + 1);
  const odd = draw % DISAGREES === 0 ? Math.floor(draw / DISAGREES) % 10 : 10;
  // Of ten odd VINs, seven have a wrong model year, one has a wrong maker, and two have a wrong check digit.
  const stamped = odd < 7 ? year + (odd % 2 ? 1 : -1) : year;
  const wmi = odd === 7 ? '5LM' : wmis[model.manufacturer.name as keyof typeof wmis];
  const kind = hash(model.id, engine.id, Salt.vin);
  const character = (word: number, from: number, count: number) => CHARACTERS[from + (word % count)] ?? '';
  const attributes = [1, 33, 1089].map((share) => character(Math.floor(kind / share), 0, 33)).join('');
  // A letter tells cars from 2010 from those that are 30 years older.
  const seventh = stamped < 2010 ? character(kind, 0, 10) : character(kind, 10, 23);
  const code = YEARS[(stamped - 1980) % 30] ?? '';
  const plant = character(model.id + Math.floor(index / 1_000_000), 0, 33);
  // Each index below a million has its own serial number.
  const serial = String((index * 7919 + world.seed) % 1_000_000).padStart(6, '0');
  const text = (digit: string): string =>
    `${wmi}${attributes}${seventh}${character(kind, 1, 9)}${digit}${code}${plant}${serial}`;
  const right = checkDigit(text('0'));
  if (domain === 12) return text(character(draw, 0, 10));
  return text(odd === 8 || odd === 9 ? (right === '0' ? '1' : '0') : right);
}
