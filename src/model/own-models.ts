import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { LotlakeError } from '../config/lotlake-error.js';
import type { Manifest } from '../lake/manifest.js';
import { lakeTables, ownTables } from '../lake/tables.js';
import { type Check, ownCheck, readChecks } from './checks.js';
import { definition, type Model, readModels } from './model-files.js';

/** Models and checks. */
export interface Modelling {
  readonly models: readonly Model[];
  readonly checks: readonly Check[];
}

/**
 * Tables and marts of lotlake, which a model of the user may read, and whose names it cannot have; nor can it be `checks`,
 * since `lotlake test --model checks` means checks, which lie in such a folder.
 */
export const readableNames = (): ReadonlySet<string> =>
  new Set([...[...lakeTables(), ...ownTables, ...readModels()].map(({ name }) => name), 'checks']);

/**
 * Reads the models of the user from their folder, and the checks from its folder `checks`; none where there is no folder.
 * Throws MODEL_DEFINITION for a file that is not valid, and for a name that is no name or is taken.
 */
export function readOwn(folder: string | undefined): Modelling {
  if (folder === undefined) return { models: [], checks: [] };
  const models = readModels(folder).map((model) => ({ ...model, isOwn: true }));
  const checked = join(folder, 'checks');
  const checks = existsSync(checked) ? readChecks(checked) : [];
  const theirs = new Set(readChecks().map(({ test }) => test));
  for (const { name } of models) assertName(join(folder, `${name}.sql`), name, readableNames());
  for (const { test } of checks) assertName(join(checked, `${test}.sql`), test, theirs);
  return { models, checks };
}

function assertName(path: string, name: string, taken: ReadonlySet<string>): void {
  const fail = (problem: string): LotlakeError =>
    new LotlakeError('MODEL_DEFINITION', `${path}: ${problem}`, { hint: 'rename its files' });
  if (!/^[a-z][a-z0-9_]*$/.test(name)) throw fail('a name has the letters a to z, digits and _ alone');
  if (taken.has(name)) throw fail(`lotlake has a table, mart or check ${name} itself`);
}

const kept = z.object({
  models: z.array(z.object({ ...definition.shape, name: z.string(), sql: z.string() })),
  checks: z.array(ownCheck),
});

/** All models and checks that a snapshot was made with: those of lotlake, then those of the user that it holds. */
export function modellingOf({ own }: Pick<Manifest, 'own'>): Modelling & { readonly own: Modelling } {
  const { models, checks } = kept.parse(own ?? { models: [], checks: [] });
  const given = { models: models.map((model) => ({ ...model, isOwn: true })), checks };
  return {
    models: [...readModels(), ...given.models],
    checks: [...readChecks(), ...checks],
    own: given,
  };
}
