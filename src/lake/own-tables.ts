import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { packageRoot } from '../config/package-root.js';

/** A table that lotlake writes about its own work. */
export type OwnTable = Readonly<(typeof ownTables)[number]>;

const definitions = z.record(
  z.string(),
  z.strictObject({
    description: z.string(),
    grain: z.string(),
    key: z.array(z.string()).nonempty(),
    partitioned: z.boolean().default(false),
    /** Type and description by name. */
    columns: z.record(z.string(), z.tuple([z.string(), z.string()])),
  }),
);

/** Tables of lotlake's own, in the order of `sql/own-tables.yml`. */
export const ownTables = Object.entries(
  definitions.parse(parse(readFileSync(join(packageRoot, 'sql', 'own-tables.yml'), 'utf8'))),
).map(([name, { columns, ...table }]) => ({
  ...table,
  name,
  columns: Object.entries(columns).map(([column, [type, description]]) => ({
    name: column,
    type,
    description,
  })),
}));
