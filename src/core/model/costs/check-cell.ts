import { parseCsv } from 'hucre/csv';
import { didYouMean } from '../../../base/config/nearest.js';
import { packageFile } from '../../../base/config/package-root.js';
import { sources } from '../../../base/config/settings.js';
import { enumerations } from '../../service/contract/enumerations.js';
import { ANY, plainName } from './columns.js';

/** Longest name. */
const LONGEST = 100;

const columnOfSeed = (seed: string, place: number): string[] =>
  parseCsv(packageFile(`sql/seeds/${seed}.csv`), { delimiter: ',' })
    .slice(1)
    .map((cells) => plainName(String(cells[place] ?? '')));

/** The names that a kind of cell may hold beside `*`, as they are compared. */
const NAMES: Readonly<Record<string, () => readonly string[]>> = {
  source: () => Object.entries(sources).flat(),
  title: () => [...new Set([...columnOfSeed('title_brands', 1), 'unknown'])],
  damage: () => [...new Set(columnOfSeed('damage_groups', 1))],
  state: () => [...new Set(columnOfSeed('state_codes', 2))],
  vehicle_type: () => Object.values(enumerations.vehicle_type),
  body_type: () => Object.values(enumerations.body_type),
  fuel: () => Object.values(enumerations.fuel),
};

const known = new Map<string, readonly string[]>();

function namesOf(kind: string): readonly string[] | undefined {
  const names = known.get(kind) ?? NAMES[kind]?.();
  if (names !== undefined) known.set(kind, names);
  return names;
}

const countries = new Intl.DisplayNames('en', { type: 'region', fallback: 'none' });
/** Codes of Intl that are no countries: unknown, and unions of several. */
const NO_COUNTRIES = ['ZZ', 'EU', 'EZ', 'UN'];
/** UK is another spelling of GB, which the lake has. */
const isCountry = (code: string): boolean =>
  /^[A-Z]{2}$/.test(code) &&
  !NO_COUNTRIES.includes(code) &&
  countries.of(code) !== undefined &&
  new Intl.Locale(`und-${code}`).region === code;
const currencies = new Set(Intl.supportedValuesOf('currency'));

/** What is wrong with a cell of a kind, as the message goes on after its value; undefined if nothing is. */
export function checkCell(kind: string, text: string): string | undefined {
  if (text === '') return kind.endsWith('?') ? undefined : ': it must not be empty';
  return problemOf(kind.replace('?', ''), text);
}

function problemOf(kind: string, text: string): string | undefined {
  const names = namesOf(kind);
  if (names !== undefined) return nameProblem(kind, text, names);
  switch (kind) {
    case 'name':
    case 'any':
    case 'base':
      if (/[\u0000-\u001f\u007f]/.test(text)) return ': it has a control character';
      if (text.length > LONGEST) return `: it has more than ${LONGEST} characters`;
      return kind === 'name' && text === ANY
        ? `: it must be a name; ${ANY} stands for names of other tables`
        : undefined;
    case 'country':
      return isCountry(text) ? undefined : ': it is no code of a country such as PL (ISO 3166)';
    case 'currency':
      return currencies.has(text) ? undefined : ': it is no code of a currency such as EUR (ISO 4217)';
    case 'day':
      return isDay(text) ? undefined : ': it is no day such as 2026-11-30';
    case 'flag':
      return text === 'yes' ? undefined : ': it is neither yes nor empty';
    case 'year':
      return /^(19|20)\d\d$/.test(text) ? undefined : ': it is no year such as 2019';
    case 'whole':
      return /^\d{1,6}$/.test(text) ? undefined : ': it is no whole number, 0 or more';
    case 'text':
      return undefined;
    default:
      return numberProblem(kind, text);
  }
}

function nameProblem(kind: string, text: string, names: readonly string[]): string | undefined {
  const plain = plainName(text);
  if (text === ANY || names.includes(plain)) return undefined;
  return `: there is no such ${kind.replace('_', ' ')}${didYouMean(plain, names)}`;
}

const DECIMALS: Readonly<Record<string, number>> = { amount: 2, number: 6, share: 6, rate: 8 };

function numberProblem(kind: string, text: string): string | undefined {
  const decimals = DECIMALS[kind] ?? 0;
  if (!/^\d+(\.\d+)?$/.test(text))
    return ': it is no number such as 1250.50, 0 or more, without signs between thousands';
  const [whole = '', fraction = ''] = text.split('.');
  if (fraction.length > decimals) return `: it has more than ${decimals} decimals`;
  if (whole.length > 10) return ': it is too large';
  if (kind === 'share' && Number(text) > 1) return ': a share is at most 1, and 0.075 is 7.5 %';
  return kind === 'rate' && Number(text) === 0 ? ': a rate is above 0' : undefined;
}

function isDay(text: string): boolean {
  if (!/^\d{4}-\d\d-\d\d$/.test(text)) return false;
  const date = new Date(`${text}T00:00:00Z`);
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}
