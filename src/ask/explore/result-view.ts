import type { DuckDBConnection } from '@duckdb/node-api';
import { count, counted, NONE, numberOrNull, printable } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { readQuery } from '../../core/model/read-only.js';
import { chartSpec } from '../page/chart-spec.js';
import { grid } from '../page/grid.js';
import { type Html, html } from '../page/html.js';
import { overTime } from '../page/line-charts.js';
import { bars } from '../page/row-charts.js';
import { type Columns, openResult } from '../query/result.js';
import { jsonValue } from '../query/result-values.js';

/** Rows of a result that are shown. */
const SHOWN = 500;
/** Bars of a chart. */
const BARS = 40;

/**
 * The first rows of a query as a table, and as a chart where they make one. Throws QUERY_FAILED.
 * @param whole the query without a limit, which files have, and the number of its rows, if the query has a limit
 */
export async function resultOf(
  connection: DuckDBConnection,
  sql: string,
  whole?: { readonly sql: string; readonly rows: number | null },
): Promise<Html> {
  const query = await readQuery(connection, sql);
  const started = performance.now();
  const { columns, rows } = await openResult(connection, query);
  const first: (readonly unknown[])[] = [];
  for await (const piece of rows(jsonValue)) {
    first.push(...piece);
    if (first.length > SHOWN) break;
  }
  const more = first.length > SHOWN;
  const shown = first.slice(0, SHOWN);
  const took = `${((performance.now() - started) / 1000).toFixed(2)} s`;
  const address = `q=${encodeURIComponent(whole?.sql ?? sql)}`;
  const isPart = whole !== undefined && whole.rows !== null && whole.rows > shown.length;
  // Nobody counted all of them.
  const isCut =
    whole !== undefined && whole.rows === null && new RegExp(`\\nlimit ${shown.length}$`).test(sql);
  const tally =
    more || isPart || isCut
      ? `The first ${count(shown.length)} rows${isPart ? ` of ${count(whole.rows)}` : ''}`
      : counted(shown.length, 'row');
  return html`<p class="tally" role="status">${tally}, ${took}. <a href="/query.csv?${address}" download>CSV</a> <a href="/query.parquet?${address}" download>Parquet</a></p>
${chartOf(columns, shown)}${tableOf(columns, shown)}`;
}

const NUMBER = /^(U?(BIG|SMALL|TINY|HUGE)?INT(EGER)?|DOUBLE|FLOAT|DECIMAL\(\d+,\d+\))$/;

function tableOf(columns: Columns, rows: readonly (readonly unknown[])[]): Html {
  const isNumber = columns.map(({ type }) => NUMBER.test(type));
  const heads = columns.map(({ name }, i) => (isNumber[i] ? `>${name}` : name));
  const write = (value: unknown, i: number): string => {
    if (value === null || value === undefined) return NONE;
    if (typeof value === 'number' && isNumber[i]) return numberText(value, columns[i]?.name ?? '');
    return printable(value).slice(0, 300);
  };
  return grid(
    heads,
    rows.map((row) => row.map(write)),
  );
}

const whole = new Intl.NumberFormat('en', { maximumFractionDigits: 4 });
const small = new Intl.NumberFormat('en', { maximumSignificantDigits: 6 });

/** Ids and years are no amounts, and have no separators. A number below 1 has six digits, any other four decimals. */
const numberText = (value: number, name: string): string =>
  /(^|_)(id|year)$/.test(name) ? String(value) : (Math.abs(value) < 1 ? small : whole).format(value);

/** Lines of a chart, and their marks: those of the sources, and the mark of any other. */
const LINES = 4;
const MARKS = [1, 3, 12, 0];

/** A first column of times or names, with a column of numbers, makes a chart; with times, each column of numbers a line. */
function chartOf(columns: Columns, rows: readonly (readonly unknown[])[]): Html | undefined {
  const [first] = columns;
  const numbers = columns.flatMap(({ type, name }, i) =>
    i > 0 && NUMBER.test(type) && !/(^|_)id$/.test(name) ? [i] : [],
  );
  const isPivot = ['all', 'value'].includes(columns.at(-1)?.name ?? '');
  const [y = -1] = isPivot ? [columns.length - 1] : numbers;
  if (first === undefined || y < 0 || rows.length < 2 || NUMBER.test(first.type)) return undefined;
  // A bar or a point for each name.
  if (new Set(rows.map(([name]) => String(name))).size < rows.length) return undefined;
  const title = `${columns[y]?.name} by ${first.name}`;
  const format = (value: number): string => count(value);
  if (/^(DATE|TIMESTAMP)/.test(first.type)) {
    const times = rows
      .filter(([at]) => at !== null)
      .toSorted(([a], [b]) => String(a).localeCompare(String(b)));
    if (new Set(times.map(([at]) => String(at))).size < times.length) return undefined;
    const parts =
      numbers.length > 1 ? numbers.filter((i) => columns[i]?.name !== 'all').slice(0, LINES) : numbers;
    const points: Row[] = parts.flatMap((i, k) =>
      times.map((row) => ({
        moment: row[0],
        value: numberOrNull(row[i]),
        series: columns[i]?.name,
        domain_id: MARKS[k % MARKS.length],
        based_on: 1,
        description: `${columns[i]?.name}, ${printable(row[0])}: ${count(row[i])}`,
      })),
    );
    return overTime({
      chart: chartSpec.parse({ kind: 'lines', id: 'result', unit: 'day' }),
      title,
      rows: points,
      format,
    });
  }
  const points: Row[] = rows.map((row) => ({
    name: printable(row[0]).slice(0, 40) || NONE,
    value: numberOrNull(row[y]),
    text: count(row[y]),
  }));
  if (points.length > BARS || points.some(({ value }) => Number(value) < 0)) return undefined;
  return bars({ chart: chartSpec.parse({ kind: 'bars', id: 'result' }), title, rows: points, format });
}
