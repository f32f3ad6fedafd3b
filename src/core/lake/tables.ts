import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { load } from 'js-yaml';
import { z } from 'zod';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { packageFile, packageRoot } from '../../base/config/package-root.js';
import { streamNames } from '../service/streams.js';

/** How the files of a table lie in folders: by source, and by the month of a column. */
const partition = z.strictObject({ domain_id: z.literal(true), month: z.string() }).optional();

/** Paths by column; one path need not be a list. */
const pathsByColumn = z
  .record(z.string(), z.union([z.string().transform((path) => [path]), z.array(z.string())]))
  .default({});

/** What `sql/flatten/<table>.yml` says of a lake table. */
const definition = z.strictObject({
  description: z.string(),
  grain: z.string(),
  stream: z.enum(streamNames),
  /**
   * Path of the contract that one row comes from; empty for the record itself. If there are several, each has the texts
   * of the columns that tell their rows apart.
   */
  from: z.union([
    z.string().transform((path): Record<string, Record<string, string>> => ({ [path]: {} })),
    z.record(z.string(), z.record(z.string(), z.string())),
  ]),
  /**
   * Members of the row that fill a column, as paths below `from`; an empty list if none does. A column that is not named
   * here is filled by the member of its name: `odometer_km` by `odometer.km`.
   */
  members: pathsByColumn,
  /**
   * Members of the record, or of an object around the row, that fill a column, as paths of the contract. A path that ends
   * in `[]` stands for the position in that list. `month` is the partition, if no column of the row gives it.
   */
  parents: pathsByColumn,
  key: z.array(z.string()).nonempty(),
  /** Owner of the rows: if a delivery of the owner lacks a row, the row is gone. */
  owner: z.enum([
    'none',
    'feed',
    'stream',
    'vehicle.lots',
    'vehicle.listings',
    'vehicle.inspections',
    'vehicle.vehicle_history_reports',
    'vehicle.participants',
    'vehicle.source_claims',
    'vehicle.inspection_blocks',
    'vehicle.checked_items',
    'vehicle.measurements',
    'vehicle.diagnostic_errors',
    'vehicle.checks',
    'vehicle.events',
    'vehicle.details',
    'vehicle.media',
    'vehicle.limitations',
    'lot.prices',
    'lot.images',
  ]),
  /** What becomes of a row that its owner no longer delivers. */
  gone: z.enum(['archive', 'mark', 'remove', 'keep']).default('mark'),
  partition,
  /** For rows of several kilobytes: rows per file, which are sorted in memory. Such tables are staged by partition. */
  wide: z.int().positive().optional(),
  sort: z.array(z.string()).nonempty(),
  /** Descriptions of columns that the contract does not describe. */
  columns: z.record(z.string(), z.string()).default({}),
});

/** A table of the lake that is cut from the records of a stream. */
export type LakeTable = Readonly<z.output<typeof definition>> & {
  readonly name: string;
  /** One SELECT over the views that load makes for each place of the contract. */
  readonly sql: string;
};

let cached: readonly LakeTable[] | undefined;

/** Every table that is cut from records, read from `sql/flatten`. */
export function lakeTables(): readonly LakeTable[] {
  cached ??= readTables();
  return cached;
}

/** Files of the functions that the SELECTs of `sql/flatten` use. */
const FUNCTIONS = ['json_forms', 'report_dates'] as const;

/** These functions, as SQL that creates them for a connection. */
export const flattenFunctions = FUNCTIONS.map((name) => packageFile(`sql/functions/${name}.sql`)).join('\n');

function readTables(): LakeTable[] {
  return readdirSync(join(packageRoot, 'sql', 'flatten'))
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => {
      const name = file.slice(0, -4);
      const parsed = definition.safeParse(load(packageFile(`sql/flatten/${name}.yml`)));
      if (!parsed.success)
        throw new LotlakeError(
          'LAKE_DEFINITION',
          `sql/flatten/${name}.yml: ${z.prettifyError(parsed.error)}`,
        );
      return { name, sql: packageFile(`sql/flatten/${file}`), ...parsed.data };
    });
}

/** Column that is set in the rows of a table that have left the feed and are kept; null if there is none. */
export function goneMark(name: string): 'archived' | 'gone_at' | null {
  const { gone = 'keep' } = lakeTables().find((table) => table.name === name) ?? {};
  return gone === 'archive' ? 'archived' : gone === 'mark' ? 'gone_at' : null;
}

/** A table that lotlake writes about its own work. */
export type SystemTable = Readonly<(typeof systemTables)[number]>;

const ownDefinitions = z.record(
  z.string(),
  z.strictObject({
    description: z.string(),
    grain: z.string(),
    key: z.array(z.string()).nonempty(),
    partition,
    /** Type and description by name; `internal` if its texts may name hosts, URLs or folders. */
    columns: z
      .record(z.string(), z.tuple([z.string(), z.string(), z.literal('internal').optional()]))
      .transform((columns) =>
        Object.entries(columns).map(([name, [type, description, internal]]) => ({
          name,
          type,
          description,
          ...(internal === undefined ? {} : { internal: true as const }),
        })),
      ),
  }),
);

/** Tables of lotlake's own, in the order of `sql/own-tables.yml`. */
export const systemTables = Object.entries(ownDefinitions.parse(load(packageFile('sql/own-tables.yml')))).map(
  ([name, table]) => ({ ...table, name }),
);
