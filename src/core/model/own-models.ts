import { existsSync, readdirSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import { z } from 'zod';
import type { Config } from '../../base/config/config.js';
import { ConfigError, LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { clip, printable } from '../../base/config/printable.js';
import { columnName, type Manifest } from '../lake/manifest.js';
import { lakeTables, systemTables } from '../lake/tables.js';
import { type Check, OWN_NAME, ownCheck, readCheck, readChecks } from './checks.js';
import { definition, type Model, readLayer, readModel, readModels } from './model-files.js';
import { columnProblem } from './own-columns.js';

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

/** Names that no model of the user can have: tables, models, examples that are switched on, and those that only lotlake uses. */
const takenNames = (examples: readonly string[] = []): ReadonlySet<string> =>
  new Set([...namesOf(() => true), ...examples, ...RESERVED]);

/** What a lake computes beside lotlake's own models: models in a folder of the user, and lotlake's examples by name. */
export type Chosen = Pick<Config, 'models' | 'examples'>;

/** A model or check of the user that a run does not compute, and why. */
export interface LeftOut {
  /** Name of the model, `checks/<name>` of a check, or what else lies in the folder. */
  readonly name: string;
  readonly error: LotlakeError;
  /** Whether the model is watched, if its .yml says so and can be read. */
  readonly watch?: boolean | undefined;
}

/** Models and checks of the user, and those that are left out. */
export interface OwnModels extends Modelling {
  readonly leftOut: readonly LeftOut[];
}

/**
 * Reads the models of the user from their folder, the checks from its folder `checks`, and the examples that are switched on.
 * A model or check whose files or name are not valid is left out, since it may not stop a night. Throws ConfigError for an
 * example that does not exist.
 */
export function readOwn({ models: folder, examples: names = [] }: Chosen): OwnModels {
  const examples = names.length === 0 ? [] : chosenExamples(names);
  const leftOut: LeftOut[] = [];
  const attempt = <T>(name: string, read: () => T): T[] => {
    try {
      return [read()];
    } catch (error) {
      leftOut.push({ name: shownName(name), error: definitionError(error) });
      return [];
    }
  };
  if (folder === undefined) return { models: examples.map(asOwn), checks: [], leftOut };
  const named = takenNames(names);
  const models = filesIn(folder, ['.sql', '.yml'], attempt).flatMap((name) =>
    attempt(name, () => readOwnModel(folder, name, named)),
  );
  const checked = join(folder, 'checks');
  const taken = new Set(readChecks().map(({ test }) => test));
  const found = existsSync(checked) ? filesIn(checked, ['.sql'], attempt) : [];
  const checks = found.flatMap((test) =>
    attempt(`checks/${test}`, () => {
      const path = join(checked, `${test}.sql`);
      assertName(path, test, taken);
      return readCheck(path);
    }),
  );
  return { models: [...examples, ...models].map(asOwn), checks, leftOut };
}

/** A name of a file for people, as the manifest may hold it. */
const shownName = (name: string): string => clip(printable(name), 200);

/** Any error of reading a model as an error of its definition. */
const definitionError = (error: unknown): LotlakeError =>
  error instanceof LotlakeError
    ? error
    : new LotlakeError('MODEL_DEFINITION', messageOf(error), { cause: error });

/** Names that only lotlake uses: `lotlake test --model checks` means the checks, and the fit makes a view of its inputs. */
const RESERVED: readonly string[] = ['checks', 'fit_inputs'];

/** Names of the files of a folder without their extensions. Editors and systems leave files that begin with a dot. */
function filesIn(
  folder: string,
  extensions: readonly string[],
  attempt: (name: string, read: () => string[]) => string[][],
): readonly string[] {
  const [files = []] = attempt(basename(folder), () => readdirSync(folder));
  const named = files.filter((file) => !file.startsWith('.') && extensions.includes(extname(file)));
  return [...new Set(named.map((file) => basename(file, extname(file))))].sort();
}

/** Reads one model of the user. Throws MODEL_DEFINITION. */
function readOwnModel(folder: string, name: string, known: ReadonlySet<string>): Model {
  const [sql, yml] = [join(folder, `${name}.sql`), join(folder, `${name}.yml`)];
  assertName(sql, name, known);
  if (!existsSync(sql))
    throw new LotlakeError('MODEL_DEFINITION', `${yml} describes a model that has no .sql`);
  const model = readModel(folder, name);
  const fail = (problem: string, hint?: string): LotlakeError =>
    new LotlakeError('MODEL_DEFINITION', `${yml}: ${problem}`, { hint });
  if (model.exists === 'none')
    throw fail(
      "exists: none is for steps of lotlake's own models",
      'leave exists out for a file, or write view',
    );
  const taken = takenModel.safeParse(model);
  if (!taken.success) throw fail(z.prettifyError(taken.error));
  return model;
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
  const problem = nameProblem(name, taken);
  if (problem !== undefined)
    throw new LotlakeError('MODEL_DEFINITION', `${path}: ${problem}`, { hint: 'rename its files' });
}

/** Why a model of the user cannot have a name beside the examples that are switched on, or undefined if it can. */
export const ownNameProblem = (name: string, examples: readonly string[] | undefined): string | undefined =>
  nameProblem(name, takenNames(examples));

function nameProblem(name: string, taken: ReadonlySet<string>): string | undefined {
  if (!OWN_NAME.test(name) || !columnName.safeParse(name).success)
    return 'a name has the letters a to z, digits and _ alone, begins with a letter, and has 63 characters at most';
  if (/^(duckdb|pg|pragma|sqlite)_/.test(name)) return 'DuckDB has such names in its catalog';
  if (taken.has(name)) return `lotlake has a table, mart or check ${name} itself`;
  return undefined;
}

/** A model of the user in the manifest of a snapshot. */
const ownModel = z.object({ ...definition.shape, name: z.string().regex(OWN_NAME), sql: z.string() });

/** A model of the user that a run takes: the manifest can hold the names of its columns, and its key can be tested. */
const takenModel = ownModel
  .refine(({ key, columns }) => key.every((column) => columns[column] !== undefined), {
    error: 'the key has a column that is not among columns',
  })
  .refine(({ key }) => new Set(key).size === key.length, { error: 'the key names a column twice' })
  .superRefine(({ columns }, context) => {
    const problem = columnProblem(Object.keys(columns));
    if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
  });

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
