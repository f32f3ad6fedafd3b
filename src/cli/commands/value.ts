import { readLake } from '../../query/open-lake.js';
import { count, printable } from '../../query/printable.js';
import { gridOf } from '../../query/table.js';
import { VALUE_READS, type Value, valueOfCar, valuesOfLots } from '../../query/value.js';
import { command, snapshotOptions, textOf } from '../command.js';
import { wholeNumber } from '../option-values.js';
import { UsageError } from '../usage-error.js';

/** Estimates what a lot or car is worth. */
export const value = command({
  options: {
    id: { type: 'string', describe: 'VIN, lot number or lot id' },
    make: { type: 'string', describe: 'make, for a car without a lot' },
    model: { type: 'string', describe: 'model of the make' },
    year: { type: 'string', describe: 'model year' },
    km: { type: 'string', describe: 'odometer in kilometres' },
    damage: { type: 'string', describe: 'main damage: a group such as front, or a name of the feed' },
    title: { type: 'string', describe: 'title: a brand such as salvage, or a name of the feed' },
    ...snapshotOptions,
  },
  async run(given, { signal }) {
    const { id, make, model, year, km, damage, title, print } = given;
    const isCar = make !== undefined && model !== undefined && year !== undefined;
    const saysCar = [make, model, year, km, damage, title].some((option) => option !== undefined);
    if (id === undefined ? !isCar : saysCar)
      throw new UsageError('give a VIN or lot, or a car', 'a car has --make, --model and --year at least');
    const reading = { named: VALUE_READS, choice: given, signal };
    const values = await readLake(given.config, reading, async ({ session: { connection } }) => {
      if (!isCar) return valuesOfLots(connection, id ?? '');
      const distance = km === undefined ? undefined : wholeNumber('--km', km, 0, 5_000_000);
      const car = { make, model, year: wholeNumber('--year', year, 1940, 2100), km: distance };
      return [await valueOfCar(connection, { ...car, damage, title })];
    });
    print(values, () => values.map(cardOf).join('\n\n'));
  },
});

function cardOf(value: Value): string {
  const { currency, estimate, note, accuracy, drivers, comparable_sales: sales } = value;
  const lines = [
    printable(value.of),
    estimate !== null && `estimate ${count(estimate)} ${currency}`,
    estimate !== null &&
      `50 % of such prices lie from ${count(value.low_50)} to ${count(value.high_50)}, 80 % from ${count(value.low_80)} to ${count(value.high_80)}`,
    value.price !== null && `price ${count(value.price)} ${currency}`,
    note ?? undefined,
    accuracy !== null &&
      `back-test of ${accuracy.of}: median error ${percent(accuracy.error_median)}, bias ${percent(accuracy.bias)}, ${count(accuracy.prices)} prices`,
    drivers.length > 0 && 'against the average lot:',
    ...drivers.map(
      ({ factor, amount }) =>
        `  ${amount < 0 ? '−' : '+'}${count(Math.abs(amount))}  ${FACTORS[factor.replace(/: .*/, '')] ?? printable(factor).replaceAll('_', ' ')}`,
    ),
  ];
  if (sales.length === 0) return textOf(lines);
  const columns = ['year', '>km', 'damage', 'title', '>price', 'priced on', 'link'];
  const cells = sales.map((sale) => [
    ...[printable(sale.year), count(sale.km), printable(sale.damage), printable(sale.title)],
    ...[count(sale.price), printable(sale.sold_on), printable(sale.link ?? `${sale.source} ${sale.lot}`)],
  ]);
  return textOf([...lines, `priced lots most like it, in ${currency}:`, gridOf(columns, cells)]);
}

/** Names of factors whose own name or level says little. */
const FACTORS: Readonly<Record<string, string>> = { domain_id: 'source', mileage: 'mileage for its age' };

const percent = (share: unknown): string => `${(100 * Number(share)).toFixed(1)} %`;
