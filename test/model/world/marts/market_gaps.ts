import { costedLots, costRows, marketPrices, money, quantile } from '../costed.js';
import type { MartRow, WorldNight } from '../night.js';
import { groupBy } from '../statistics.js';
import { names } from './sales.js';

export async function rows(night: WorldNight): Promise<MartRow[]> {
  const { manufacturer, model } = names(night);
  const markets = await marketPrices(night);
  const costs = new Map(
    (await night.rows('landed_costs')).map((row) => [`${row.lot_id} ${row.destination}`, row]),
  );
  const tables = costRows();
  const rateOf = (from: string, to: string): number | undefined =>
    from === to
      ? 1
      : Number(
          tables.find(({ table, values }) => table === 'exchange' && values.from === from && values.to === to)
            ?.values.rate,
        );
  const lots = await costedLots(night);
  const homes = tables.filter(({ table }) => table === 'destinations').map(({ values }) => values);
  const makes = new Map(
    [...night.lots.values()].map(({ lot, vehicle }) => [lot.id, vehicle.manufacturer?.id ?? null]),
  );
  return homes.flatMap((home) => {
    const priced = lots.flatMap(({ id, row, car, country, modelId }) => {
      const found = costs.get(`${id} ${home.destination}`);
      const cost = found?.cost ?? null;
      return cost === null || modelId === null || car.year === null
        ? []
        : [
            {
              cost: Number(cost),
              key: [row.domain_id, country, modelId, car.year].join(' '),
              modelId,
              year: car.year,
              source: Number(row.domain_id),
              country,
              make: makes.get(id) ?? null,
            },
          ];
    });
    return [...groupBy(priced, ({ key, make }) => `${key} ${make}`).values()].flatMap((group) => {
      const [first] = group;
      if (first === undefined || group.length < night.minimumGroup) return [];
      const all = group.map(({ cost }) => cost);
      const sold = [...markets.values()].filter(
        (market) =>
          market.country === home.country &&
          market.modelId === first.modelId &&
          market.year === first.year &&
          (market.source !== first.source || market.country !== first.country),
      );
      const there = markets.get(first.key);
      return sold.flatMap((market): MartRow[] => {
        const rate = rateOf(market.currency, home.currency ?? '');
        if (rate === undefined || Number.isNaN(rate)) return [];
        const [cost, low, high] = [0.5, 0.1, 0.9].map((share) => quantile(all, share)) as [
          number,
          number,
          number,
        ];
        return [
          {
            destination: home.destination ?? '',
            manufacturer_id: first.make,
            manufacturer_name: manufacturer.get(first.make ?? -1) ?? null,
            model_id: first.modelId,
            model_name: model.get(first.modelId) ?? null,
            year: first.year,
            bought_domain_id: first.source,
            bought_country: first.country,
            bought_prices: there?.prices ?? null,
            bought_price_median: there?.median ?? null,
            bought_currency: there?.currency ?? null,
            sold_domain_id: market.source,
            sold_country: market.country,
            sold_prices: market.prices,
            currency: home.currency ?? null,
            offers: all.length,
            cost_median: money(cost),
            cost_p10: money(low),
            cost_p90: money(high),
            price_median: money(market.median * rate),
            price_p10: money(market.p10 * rate),
            price_p90: money(market.p90 * rate),
            gap: money(market.median * rate - cost),
            gap_low: money(market.p10 * rate - high),
            gap_high: money(market.p90 * rate - low),
          },
        ];
      });
    });
  });
}
