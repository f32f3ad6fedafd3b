import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DuckDBConnection } from '@duckdb/node-api';
import { load } from 'js-yaml';
import { z } from 'zod';
import { packageRoot } from '../../base/config/package-root.js';

/** What `sql/reconcile/<rule>.yml` says of a rule. */
const definition = z.strictObject({
  description: z.string(),
  key: z.array(z.string()),
  kind: z.enum(['table', 'view']).default('table'),
  columns: z.record(z.string(), z.string()),
});

/** A rule of reconcile: one SELECT over the relations of `base`, `stage`, `counted`, `next` and `run`. */
export type Rule = Readonly<z.output<typeof definition>> & { readonly name: string; readonly sql: string };

const folder = join(packageRoot, 'sql', 'reconcile');

/** Reads the rules of the folder, by name. */
const readRules = (): readonly Rule[] =>
  readdirSync(folder)
    .filter((file) => file.endsWith('.sql'))
    .sort()
    .map((file) => ({
      name: file.slice(0, -4),
      sql: readFileSync(join(folder, file), 'utf8'),
      ...definition.parse(load(readFileSync(join(folder, `${file.slice(0, -4)}.yml`), 'utf8'))),
    }));

/** The rules that decide which staged rows count: `counted` is bound once they are applied. */
export const COUNTING: readonly string[] = ['overtaken_vehicles', 'returned_vehicles', 'lot_claims'];

/** Names of the rules that a rule reads, also through `counted`. */
export const readsOf = ({ sql }: Pick<Rule, 'sql'>): readonly string[] => [
  ...[...sql.matchAll(/\brun\.(\w+)/g)].map(([, name = '']) => name),
  ...(/\bcounted\./.test(sql) ? COUNTING : []),
];

/** Puts rules into an order in which each comes after the rules that it reads. Throws TypeError for a circle. */
function inOrder(rules: readonly Rule[]): readonly Rule[] {
  const ordered = new Set<Rule>();
  const visit = (rule: Rule, path: readonly Rule[]): void => {
    if (path.includes(rule)) throw new TypeError(`rules read each other in a circle: ${rule.name}`);
    for (const name of readsOf(rule)) {
      const read = rules.find((each) => each.name === name);
      if (read !== undefined && !ordered.has(read)) visit(read, [...path, rule]);
    }
    ordered.add(rule);
  };
  for (const rule of rules) visit(rule, []);
  return [...ordered];
}

/** The rules, each after those that it reads. */
export const rules: readonly Rule[] = inOrder(readRules());

/** The rule of a name. Throws TypeError if there is none. */
export function ruleOf(name: string): Rule {
  const rule = rules.find((each) => each.name === name);
  if (rule === undefined) throw new TypeError(`there is no rule ${name}`);
  return rule;
}

/** Creates the relation `run.<rule>` of each rule, in the order of what they read. */
export async function applyRules(connection: DuckDBConnection, ...names: readonly string[]): Promise<void> {
  const wanted = new Set(names.map(ruleOf));
  for (const { name, kind, sql } of rules.filter((rule) => wanted.has(rule)))
    await connection.run(`create or replace ${kind} run.${name} as ${sql}`);
}
