import type { MartRow, WorldNight } from '../night.js';
import { groupBy } from '../statistics.js';
import { names } from './sales.js';

/** The effect of a value that one price shows, as a logarithm, with its weight (1 / variance). */
interface Shown {
  readonly ids: readonly number[];
  readonly value: string;
  readonly effect: number;
  readonly weight: number;
}

const LEVELS = ['all', 'source', 'manufacturer', 'model', 'generation'];
const SUBJECTS = {
  damage_main_group: 'damage_main_group',
  title_brand: 'title_brand',
  sold_by: 'sold_by',
  month: 'priced_month',
};

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);

export async function rows(night: WorldNight): Promise<MartRow[]> {
  const { domain, manufacturer, model } = names(night);
  const generation = new Map(night.cars.map((car) => [car.generation?.id, car.generation?.name?.trim()]));
  const estimates = new Map((await night.rows('price_estimates')).map((row) => [row.lot_id, row]));
  const factors = await night.rows('price_factors');
  const priced = (await night.rows('price_inputs')).filter(({ price, lot_id }) => {
    const estimate = estimates.get(lot_id);
    return (
      price !== null &&
      estimate !== undefined &&
      estimate.estimate !== null &&
      !estimate.is_left_out &&
      Number(estimate.log_deviation) > 0
    );
  });
  return [...groupBy(priced, ({ market }) => String(market))].flatMap(([market, sales]) => {
    const known = factors.filter((row) => row.market === market);
    const points = known
      .filter(({ factor }) => factor === 'mileage')
      .map(({ level, effect, usual_km_a_year }) => ({
        km: Number(level),
        log: Math.log(Number(effect)),
        usual: Number(usual_km_a_year),
      }))
      .sort((a, b) => a.km - b.km);

    function shown(sale: MartRow, subject: string): Shown[] {
      const estimate = estimates.get(sale.lot_id ?? null) ?? {};
      const left = Math.log(Number(sale.price) / Number(estimate.estimate));
      const deviation = Number(estimate.log_deviation);
      const ids = ['domain_id', 'manufacturer_id', 'model_id', 'generation_id'].map((id) =>
        Number(sale[id] ?? -1),
      );
      const at = (value: string, effect: number): Shown[] => [
        { ids, value, effect: left + effect, weight: deviation ** -2 },
      ];
      if (subject === 'mileage') {
        if (sale.odometer_km === null || sale.age_years === null) return [];
        const km = Number(sale.odometer_km) - (points[0]?.usual ?? 0) * Number(sale.age_years);
        const above = points.findIndex((point) => point.km > km);
        const [low, high] = [points[above - 1], points[above]];
        if (low === undefined || high === undefined) return [];
        return at(String(low.km), low.log + ((high.log - low.log) * (km - low.km)) / (high.km - low.km));
      }
      const value = String(sale[SUBJECTS[subject as keyof typeof SUBJECTS]]).slice(
        0,
        subject === 'month' ? 7 : undefined,
      );
      const factor = known.find((row) => row.factor === subject && row.level === value);
      return factor === undefined ? [] : at(value, Math.log(Number(factor.effect)));
    }

    const logOf = (row: MartRow, column: string): number => Math.log(Number(row[column]));
    return [...Object.keys(SUBJECTS), 'mileage'].flatMap((subject) => {
      const all = sales.flatMap((sale) => shown(sale, subject));
      const meanOf = (group: readonly Shown[]) => {
        const weight = sum(group.map((each) => each.weight));
        return { weight, effect: sum(group.map((each) => each.weight * each.effect)) / weight };
      };
      const spreads = LEVELS.map((_, depth) => {
        if (depth === 0) return 0;
        const parts = [
          ...groupBy(all, ({ ids, value }) => JSON.stringify([value, ids.slice(0, depth - 1)])).values(),
        ].flatMap((group) => {
          const above = meanOf(group);
          return [...groupBy(group, ({ ids }) => ids.slice(0, depth).join()).values()].map((inner) => {
            const own = meanOf(inner);
            const free = 1 - own.weight / above.weight;
            return { square: own.weight * (own.effect - above.effect) ** 2, free, weight: own.weight * free };
          });
        });
        const weight = sum(parts.map((part) => part.weight));
        return weight === 0
          ? 0
          : Math.max(
              0,
              (sum(parts.map(({ square }) => square)) - sum(parts.map(({ free }) => free))) / weight,
            );
      });
      const below = (
        group: readonly Shown[],
        depth: number,
        value: string,
        factor: { readonly effect: number; readonly variance: number },
        over?: { effect: number; variance: number },
      ): MartRow[] => {
        const own = { ...meanOf(group), ...(over === undefined ? { effect: factor.effect } : {}) };
        const spread = spreads[depth] ?? 0;
        const share = over === undefined ? 1 : spread === 0 ? 0 : spread / (spread + 1 / own.weight);
        const effect = share * own.effect + (1 - share) * (over?.effect ?? 0);
        const variance = over === undefined ? 0 : share / own.weight + (1 - share) ** 2 * over.variance;
        const deviation = Math.sqrt(variance + factor.variance);
        const ids = group[0]?.ids ?? [];
        const id = (place: number): number | null =>
          depth > place && ids[place] !== -1 ? (ids[place] ?? null) : null;
        const row: MartRow = {
          ...{ market, currency: 'USD', subject, value, level: LEVELS[depth] ?? '' },
          ...{ domain_id: id(0), domain_name: domain.get(id(0) ?? 0) ?? null },
          ...{ manufacturer_id: id(1), manufacturer_name: manufacturer.get(id(1) ?? 0) ?? null },
          ...{ model_id: id(2), model_name: model.get(id(2) ?? 0) ?? null },
          ...{ generation_id: id(3), generation_name: generation.get(id(3) ?? 0) ?? null },
          place: ids
            .slice(0, depth)
            .map((each) => `/${each}`)
            .join(''),
          prices: group.length,
          own_effect: group.length >= night.minimumGroup ? Math.exp(own.effect) : null,
          own_weight: share,
          level_deviation: Math.sqrt(spread),
          is_pooled: group.length < night.minimumGroup,
          effect: Math.exp(effect),
          effect_low: Math.exp(effect - 1.96 * deviation),
          effect_high: Math.exp(effect + 1.96 * deviation),
        };
        const inner = depth === 4 ? [] : [...groupBy(group, (each) => String(each.ids[depth])).values()];
        return [row, ...inner.flatMap((next) => below(next, depth + 1, value, factor, { effect, variance }))];
      };
      return [...groupBy(all, ({ value }) => value)].flatMap(([value, group]) => {
        const row = known.find(({ factor, level }) => factor === subject && level === value) ?? {};
        const deviation = (logOf(row, 'effect_high') - logOf(row, 'effect_low')) / 3.92;
        return below(group, 0, value, { effect: logOf(row, 'effect'), variance: deviation ** 2 });
      });
    });
  });
}
