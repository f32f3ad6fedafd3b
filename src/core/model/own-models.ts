import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../../base/config/config.js';
import { ConfigError, LotlakeError } from '../../base/config/lotlake-error.js';
import type { Manifest } from '../lake/manifest.js';
import { lakeTables, systemTables } from '../lake/tables.js';
import { type Check, OWN_NAME, ownCheck, readChecks } from './checks.js';
import { definition, type Model, readLayer, readModels, readModelsOf } from './model-files.js';

/** Models and checks. */
export interface Modelling {
  readonly models: readonly Model[];
  readonly checks: readonly Check[];
}

/** Tables and marts of lotlake that a model of the user may read. Steps of the run are gone when its turn comes. */
export const readableNames = (): ReadonlySet<string> => namesOf(({ exists }) => exists !== 'none');

/** Tables, and the models that pass. */
const namesOf = (pass: (model: Model) => boolean): ReadonlySet<string> =>
  new Set([...lakeTables(), ...systemTables, ...readModels().filter(pass)].map(({ name }) => name));

/** What a lake computes beside lotlake's own models: models in a folder of the user, and lotlake's examples by name. */
export type Chosen = Pick<Config, 'models' | 'examples'>;

/**
 * Reads the models of the user from their folder, the checks from its folder `checks`, and the examples that are switched
 * on. Throws MODEL_DEFINITION for a file or a name that is not valid, and for a name that is taken, and ConfigError for
 * an example that does not exist.
 */
export function readOwn({ models: folder, examples: names = [] }: Chosen): Modelling {
  const examples = names.length === 0 ? [] : chosenExamples(names);
  if (folder === undefined) return { models: examples.map(asOwn), checks: [] };
  const models = readModelsOf(folder);
  const checked = join(folder, 'checks');
  const checks = existsSync(checked) ? readChecks(checked) : [];
  // The name `checks` means the checks in `lotlake test --model checks`.
  const named = new Set([...namesOf(() => true), ...names, 'checks']);
  const taken = new Set(readChecks().map(({ test }) => test));
  for (const { name, exists } of models) {
    assertName(join(folder, `${name}.sql`), name, named);
    if (exists === 'none')
      throw new LotlakeError(
        'MODEL_DEFINITION',
        `${join(folder, `${name}.yml`)}: exists: none is for steps of lotlake's own models`,
        { hint: 'leave exists out for a file, or write view' },
      );
  }
  for (const { test } of checks) assertName(join(checked, `${test}.sql`), test, taken);
  return { models: [...examples, ...models].map(asOwn), checks };
}

const asOwn = (model: Model): Model => ({ ...model, isOwn: true });

function chosenExamples(names: readonly string[]): readonly Model[] {
  const known = readLayer('examples');
  const unknown = names.find((wanted) => !known.some(({ name }) => name === wanted));
  if (unknown === undefined) return known.filter(({ name }) => names.includes(name));
  throw new ConfigError(
    `examples: ${unknown} is no example`,
    `examples: ${known.map(({ name }) => name).join(', ')}`,
  );
}

function assertName(path: string, name: string, taken: ReadonlySet<string>): void {
  const fail = (problem: string): LotlakeError =>
    new LotlakeError('MODEL_DEFINITION', `${path}: ${problem}`, { hint: 'rename its files' });
  if (!OWN_NAME.test(name)) throw fail('a name has the letters a to z, digits and _ alone');
  if (taken.has(name)) throw fail(`lotlake has a table, mart or check ${name} itself`);
}

const ownModel = z.object({ ...definition.shape, name: z.string().regex(OWN_NAME), sql: z.string() });
const ownModels = z.object({ models: z.array(ownModel), checks: z.array(ownCheck) });

/**
 * All models and checks that a snapshot was made with: those of lotlake, then those of the user in its manifest. Throws
 * LAKE_MANIFEST if these are not valid.
 */
export function modellingOf({ own }: Pick<Manifest, 'own'>): Modelling {
  const parsed = ownModels.safeParse(own ?? { models: [], checks: [] });
  if (!parsed.success) {
    const reason = z.prettifyError(parsed.error);
    throw new LotlakeError(
      'LAKE_MANIFEST',
      `the models of the user in the manifest are not valid: ${reason}`,
      {
        hint: 'the next run writes them again; lotlake run rebuild makes the snapshot again',
      },
    );
  }
  const { models, checks } = parsed.data;
  return {
    models: [...readModels(), ...models.map(asOwn)],
    checks: [...readChecks(), ...checks],
  };
}
