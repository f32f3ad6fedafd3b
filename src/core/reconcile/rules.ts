import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { load } from 'js-yaml';
import { z } from 'zod';
import { packageRoot } from '../../base/config/package-root.js';

/** What `sql/reconcile/<number>_<rule>.yml` says of a rule. */
const definition = z.strictObject({
  description: z.string(),
  key: z.array(z.string()),
  kind: z.enum(['table', 'view']).default('table'),
  columns: z.record(z.string(), z.string()),
});

/**
 * A rule of reconcile: one SELECT over the relations of `base`, `stage`, `counted`, `next` and `run`; `actions` also reads
 * `compared` and `delivering_owners`, which `merge-table.ts` binds for each table.
 */
export type Rule = Readonly<z.output<typeof definition>> & { readonly name: string; readonly sql: string };

const folder = join(packageRoot, 'sql', 'reconcile');

/**
 * The rules by number. The numbers are the order in which people read them: a rule reads only rules with lower numbers. A run
 * applies them as `merge-staged.ts` and the files beside it call them.
 */
export const rules: readonly Rule[] = readdirSync(folder)
  .filter((file) => file.endsWith('.sql'))
  .sort()
  .map((file) => ({
    name: file.slice(file.indexOf('_') + 1, -4),
    sql: readFileSync(join(folder, file), 'utf8'),
    ...definition.parse(load(readFileSync(join(folder, `${file.slice(0, -4)}.yml`), 'utf8'))),
  }));

/** The rule of a name. Throws TypeError if there is none. */
export function ruleOf(name: string): Rule {
  const rule = rules.find((each) => each.name === name);
  if (rule === undefined) throw new TypeError(`there is no rule ${name}`);
  return rule;
}

/** Creates the relation `run.<rule>` of each rule. */
export async function applyRules(connection: DuckDBConnection, ...names: readonly string[]): Promise<void> {
  for (const { name, kind, sql } of names.map(ruleOf))
    await connection.run(`create or replace ${kind} run.${name} as ${sql}`);
}
