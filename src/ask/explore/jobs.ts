import type { DuckDBConnection } from '@duckdb/node-api';
import { counted } from '../../base/config/printable.js';
import { literal, rows, scalar } from '../../base/duck/session.js';
import { failQuery, readQuery } from '../../core/model/read-only.js';
import { type Html, html } from '../page/html.js';
import { matchList } from '../page/watched-list.js';
import { render } from '../query/render.js';
import { columnFacts } from './column-facts.js';
import type { JobLake } from './job-lake.js';
import { LINKS } from './page-frame.js';
import { type Pivot, pivotOf } from './pivot.js';
import { resultOf } from './result-view.js';
import { type ModelFiles, tryModel } from './trial.js';

/** Work on what a reader typed, or that takes long: it runs in a process of its own, which can be ended whatever it does. */
export type Job =
  /** The first rows of a query as HTML. */
  | { readonly kind: 'result'; readonly sql: string }
  /** The rows of a table, or a pivot of it, as HTML. */
  | { readonly kind: 'pivot'; readonly table: Parameters<typeof pivotOf>[1]; readonly pivot: Pivot }
  /** Nulls and examples of the columns of a table: entries of {@link columnFacts} as JSON. */
  | { readonly kind: 'facts'; readonly table: Parameters<typeof columnFacts>[1] }
  /** A query as a file. */
  | { readonly kind: 'file'; readonly sql: string; readonly format: 'csv' | 'parquet' }
  /** {@link QueryColumns} as JSON. It fails if the text does more than read. */
  | { readonly kind: 'columns'; readonly sql: string }
  /** Nothing, if a night would compute the model. */
  | { readonly kind: 'trial'; readonly files: ModelFiles }
  /** How many rows a query has, and the first of them as cards of lots. */
  | { readonly kind: 'matches'; readonly sql: string; readonly pictures: ReadonlySet<string> };

/** A query without `explain`, and the names of its columns. */
export interface QueryColumns {
  readonly select: string;
  readonly names: readonly string[];
}

/** Does a piece of work, and yields what comes of it piece by piece. */
export async function* runJob(on: JobLake, job: Job): AsyncGenerator<string | Uint8Array> {
  const { connection, lake } = on;
  if (job.kind === 'result') yield String(await resultOf(connection, job.sql));
  else if (job.kind === 'pivot') yield String(await pivotOf(connection, job.table, job.pivot));
  else if (job.kind === 'facts') yield JSON.stringify([...(await columnFacts(connection, job.table))]);
  else if (job.kind === 'matches') yield String(await matchesOf(connection, job));
  else if (job.kind === 'trial') await tryModel(on, job.files);
  else if (job.kind === 'columns') yield JSON.stringify(await columnsOf(connection, job.sql));
  else {
    const query = await readQuery(connection, job.sql);
    const view = { rows: 0, width: undefined };
    yield* render(connection, query, job.format, { temp: lake.temp, view });
  }
}

/** Matches of a search that are shown at once. */
const MATCHES = 5;

async function matchesOf(
  connection: DuckDBConnection,
  { sql, pictures }: { readonly sql: string; readonly pictures: ReadonlySet<string> },
): Promise<Html> {
  const { select } = await readQuery(connection, sql);
  const query = `from query(${literal(select)})`;
  const matches = await scalar(connection, `select count(*) ${query}`).catch(failQuery);
  const columns = await rows(connection, `describe ${query}`).catch(failQuery);
  // As the list of lots begins. A model of the user may have neither.
  const by = ['sale_date', 'lot_id'].filter((name) =>
    columns.some(({ column_name }) => column_name === name),
  );
  const order = by.length === 0 ? '' : `order by ${by.join(', ')}`;
  const found = await rows(connection, `${query} ${order} limit ${MATCHES}`).catch(failQuery);
  const more = matches > found.length ? `, the first ${found.length}` : '';
  return html`<h3>${counted(matches, 'match', 'matches')} now${more}</h3>${matchList(found, { pageOf: LINKS.car, pictures })}`;
}

async function columnsOf(connection: DuckDBConnection, sql: string): Promise<QueryColumns> {
  const { select } = await readQuery(connection, sql);
  const found = await rows(connection, `describe from query(${literal(select)})`).catch(failQuery);
  return { select, names: found.map(({ column_name }) => String(column_name)) };
}
