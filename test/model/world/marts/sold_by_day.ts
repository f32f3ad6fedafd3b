import type { MartRow, WorldNight } from '../night.js';
import { groupsOf, type Life, watched } from './lot_days.js';
import { names } from './sales.js';

const Z = 1.959963984540054;
const DAYS = [7, 14, 30, 60, 90, 180];

/** A share with its 95 % interval; null ends for 0 and 1. */
interface Share {
  readonly share: number;
  readonly low: number | null;
  readonly high: number | null;
}

/** The shares of lots that are sold, that left, and that did one of both by an age. */
export interface Incidence {
  readonly sold: Share;
  readonly left: Share;
  readonly ended: Share;
}

/** What happens at one age: the lots watched, and those of them that are sold and that leave. */
interface Age {
  readonly n: number;
  readonly sold: number;
  readonly left: number;
}

/** All ages from 0 to the last at which a lot was watched. */
export function agesOf(lives: readonly Life[]): Age[] {
  const oldest = Math.max(-1, ...lives.map(({ last }) => last));
  return Array.from({ length: oldest + 1 }, (_, age) => {
    const ended = (how: Life['end']): number =>
      lives.filter(({ last, end }) => end === how && last === age).length;
    const n = lives.filter(({ first, last }) => first <= age && age <= last).length;
    return { n, sold: ended('sold'), left: ended('left') };
  });
}

/**
 * The cumulative incidences by an age; null if fewer lots than `least` are watched at an age up to it, before none is open.
 * The variance is the propagation of the multinomial variance of each age's sales and leavings to the share.
 */
export function incidence(watched: readonly Age[], age: number, least: number): Incidence | null {
  const ages: (Age & { open: number })[] = [];
  let open = 1;
  for (let at = 0; at <= age && open > 0; at++) {
    const { n, sold, left } = watched[at] ?? { n: 0, sold: 0, left: 0 };
    if (n < least) return null;
    ages.push({ n, sold, left, open });
    open = sold + left === n ? 0 : open * (1 - (sold + left) / n);
  }
  const shareOf = (count: (at: (typeof ages)[number]) => number): Share => {
    const steps = ages.map((at) => (at.open * count(at)) / at.n);
    const share = steps.reduce((sum, step) => sum + step, 0);
    if (share < 1e-9 || share > 1 - 1e-9) return { share, low: null, high: null };
    let variance = 0;
    let rest = share;
    for (const [i, at] of ages.entries()) {
      rest -= steps[i] ?? 0;
      const [p, q] = [count(at) / at.n, (at.sold + at.left - count(at)) / at.n];
      const later = p + q < 1 ? rest / (1 - p - q) : 0;
      // The derivatives of the share by the two hazards of this age.
      const [byP, byQ] = [at.open - later, -later];
      variance += (byP ** 2 * p * (1 - p) + byQ ** 2 * q * (1 - q) - 2 * byP * byQ * p * q) / at.n;
    }
    const error = (Z * Math.sqrt(variance)) / (share * Math.abs(Math.log(share)));
    return { share, low: share ** Math.exp(error), high: share ** Math.exp(-error) };
  };
  return {
    sold: shareOf(({ sold }) => sold),
    left: shareOf(({ left }) => left),
    ended: shareOf(({ sold, left }) => sold + left),
  };
}

export async function rows(night: WorldNight): Promise<MartRow[]> {
  const { domain, manufacturer, model } = names(night);
  const { minimumGroup: least } = night;
  const watch = await watched(night);
  return (await groupsOf(night)).flatMap(({ key, lots }) => {
    const lives = lots.flatMap((lot) => watch(lot) ?? []);
    if (lives.length < least) return [];
    const ages = agesOf(lives);
    return DAYS.map((day): MartRow => {
      const shares = incidence(ages, day, least);
      return {
        ...key,
        domain_name: domain.get(key.domain_id) ?? null,
        manufacturer_name:
          key.manufacturer_id === null ? null : (manufacturer.get(key.manufacturer_id) ?? null),
        model_name: key.model_id === null ? null : (model.get(key.model_id) ?? null),
        day,
        lots: lives.length,
        lots_sold: lives.filter(({ end }) => end === 'sold').length,
        lots_left: lives.filter(({ end }) => end === 'left').length,
        sold: shares?.sold.share ?? null,
        sold_low: shares?.sold.low ?? null,
        sold_high: shares?.sold.high ?? null,
        sold_at_most: shares?.ended.share ?? null,
        sold_at_most_low: shares?.ended.low ?? null,
        sold_at_most_high: shares?.ended.high ?? null,
        left_unsold: shares?.left.share ?? null,
        left_unsold_low: shares?.left.low ?? null,
        left_unsold_high: shares?.left.high ?? null,
        open: shares === null ? null : 1 - shares.ended.share,
      };
    });
  });
}
