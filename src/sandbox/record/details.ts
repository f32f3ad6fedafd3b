import { fillText } from '../../base/config/printable.js';
import document from '../data/inspection.json' with { type: 'json' };
import options from '../data/options.json' with { type: 'json' };
import wording from '../data/wording.json' with { type: 'json' };
import type { Car } from '../world/car.js';
import { type ListingFacts, WON_A_DOLLAR } from '../world/facts.js';
import { dateOf, HOUR, type Instant, seconds } from '../world/instants.js';
import { claimTotals } from '../world/past.js';
import { chance, hash, pick, type Rng } from '../world/random.js';

const { panels, inner } = document;

/** The `details` of source 12 (service.md#lots). Some of its keys are free text. */
export function listingDetails(rng: Rng, car: Car, facts: ListingFacts, listedAt: Instant): object {
  const { past } = facts;
  const remarks = remarksOf(rng);
  const registered = new Date(past.registeredAt);
  return {
    inspect_outer: past.accident ? panels.filter(() => chance(rng, 0.5)).map(damagedPanel) : [],
    seats_count: car.seats,
    history: pastEntries(rng, car, facts),
    sell_type: 'common',
    engine_volume: car.engine.cylinders === null ? 1998 : car.engine.cylinders * 500,
    original_price: facts.asked * WON_A_DOLLAR,
    is_leasing: chance(rng, 0.03),
    year: car.year,
    month: registered.getUTCMonth() + 1,
    first_registration: {
      year: registered.getUTCFullYear(),
      month: registered.getUTCMonth() + 1,
      day: registered.getUTCDate(),
    },
    inspect: {
      accident_summary: {
        accident: past.accident ? 'yes' : "doesn't exist",
        exterior1rank: past.claims.length > 1 ? 'yes' : "doesn't exist",
        exterior2rank: "doesn't exist",
        main_framework: past.accident ? 'yes' : "doesn't exist",
        simple_repair: past.claims.length > 0 ? 'yes' : "doesn't exist",
      },
      outer: Object.fromEntries(panels.filter(() => chance(rng, 0.3)).map(({ key }) => [key, ['change']])),
      inner: Object.fromEntries(inner.map((key) => [key, answer(rng, key)])),
    },
    badge: facts.badge,
    comment: chance(rng, 0.5) ? 'Partial sheet painting' : null,
    description_ko: remarks.map(({ korean }) => korean).join('\n'),
    insurance_v2: insurance(car, facts, listedAt),
    options: {
      choice: chance(rng, 0.2) ? [{ 'option name': 'Sunroof "Panorama"', price: 1_100_000 }] : [],
      etc: [],
      standard: options.filter(() => chance(rng, 0.6)).map((option) => option.code),
      tuning: [],
      type: 'CAR',
    },
    equipment: null,
    description_en: remarks.map(({ english }) => english).join('\n'),
  };
}

const damagedPanel = ({ code, title }: (typeof panels)[number]) => ({
  attributes: ['RANK_ONE'],
  statusTypes: [{ code: 'X', title: 'Exchange (replacement)' }],
  type: { code, title },
});

function answer(rng: Rng, key: string): string {
  const bad = chance(rng, 0.06);
  if (key.includes('leak')) return bad ? 'minor oil leak' : "doesn't exist";
  return bad ? 'poor' : 'good';
}

/** Remarks of the dealer, in Korean and in English. */
function remarksOf(rng: Rng) {
  const { remarks } = wording.korean;
  const chosen = remarks.filter(() => chance(rng, 0.62));
  return [pick(rng, remarks), ...chosen];
}

/** The insurance record in the form of the source: counts, costs in KRW and each claim. */
function insurance(car: Car, { past }: ListingFacts, listedAt: Instant): object {
  const totals = claimTotals(past);
  const fraction = String(hash(car.index, car.year, 0) % 1_000_000).padStart(6, '0');
  return {
    accidentCnt: past.claims.length,
    accidents: past.claims.map((claim) => ({
      date: dateOf(claim.at),
      insuranceBenefit: claim.benefit,
      laborCost: claim.labor,
      paintingCost: claim.painting,
      partCost: claim.parts,
      type: claim.own ? '2' : '3',
    })),
    business: 0,
    carInfoChanges: [past.registeredAt, ...past.plates].map((at, place) => ({
      carNo: `${20 + place * 7}가XXXX`,
      date: dateOf(at),
    })),
    carNoChangeCnt: past.plates.length,
    displacement: 1998,
    firstDate: dateOf(past.registeredAt),
    floodTotalLossCnt: past.flooded ? 1 : 0,
    fuel: car.engine.fuel === 1 ? 'Diesel' : 'Gasoline',
    government: 0,
    loan: past.rental ? 1 : 0,
    maker: car.model.manufacturer.name.toLowerCase(),
    model: car.model.name,
    myAccidentCnt: totals.own,
    myAccidentCost: totals.ownCost,
    notJoinDate1: past.uninsured?.map((at) => dateOf(at).slice(0, 7).replace('-', '')).join('~') ?? null,
    otherAccidentCnt: totals.other,
    otherAccidentCost: totals.otherCost,
    ownerChangeCnt: past.owners.length,
    ownerChanges: past.owners.map(dateOf).reverse(),
    regDate: `${seconds(listedAt + 2 * HOUR)}.${fraction}`,
    robberCnt: past.stolen ? 1 : 0,
    totalLossCnt: past.totalLostAt === null ? 0 : 1,
    year: car.year,
  };
}

const dateFormat = (options: Intl.DateTimeFormatOptions) =>
  new Intl.DateTimeFormat('en-US', { ...options, timeZone: 'UTC' }).format;

const longDate = dateFormat({ dateStyle: 'long' });
const monthAndYear = dateFormat({ month: 'long', year: '2-digit' });
const thousands = new Intl.NumberFormat('en-US').format;

const millions = (won: number): string => `${(won / 1_000_000).toFixed(2)} million won`;

/** The past of a listing month by month, oldest first, under keys that are free text. */
function pastEntries(rng: Rng, car: Car, { past }: ListingFacts): object[] {
  const { regions } = wording.korean;
  const price = millions(car.model.newPrice * 1300);
  const entries = [
    entryOf('delivery', past.registeredAt, { region: pick(rng, regions), price }),
    ...past.claims.map(({ at, own, benefit, parts, labor, painting }) => {
      const costs = { benefit: millions(benefit), cost: millions(parts + labor + painting) };
      return entryOf(own ? 'ownClaim' : 'otherClaim', at, costs);
    }),
    ...past.owners.map((at) => entryOf('owner', at, { region: pick(rng, regions) })),
    ...past.visits.map(({ at, km, place, statutory }) =>
      entryOf(statutory ? 'inspection' : 'maintenance', at, { mileage: `${thousands(km)}km`, place }),
    ),
  ];
  if (past.uninsured !== null) {
    const [from, to] = past.uninsured;
    entries.push(entryOf('uninsured', from, { period: `${monthAndYear(from)} ~ ${monthAndYear(to)}` }));
  }
  return entries
    .sort((a, b) => a.at - b.at)
    .map(({ at, content }) => ({ content: [content], date: monthAndYear(at) }));
}

/** An entry with its texts in the template of its kind. */
function entryOf(
  kind: keyof typeof wording.pastEntries,
  at: Instant,
  texts: Readonly<Record<string, string>>,
) {
  const values = { ...texts, date: longDate(at) };
  const content = Object.entries(wording.pastEntries[kind]).map(([key, text]) => [
    key,
    fillText(text, values),
  ]);
  return { at, content: Object.fromEntries(content) };
}
