import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { load } from 'js-yaml';
import { z } from 'zod';
import { byName } from '../../base/config/json.js';
import { ConfigError, LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { packageRoot } from '../../base/config/package-root.js';
import { literal } from '../../base/duck/session.js';
import { OUTSIDE } from './sql-tree.js';
import { assertSize, textIn } from './text-files.js';

const severity = z.enum(['error', 'warn']).default('error');
const scalar = z.union([z.string(), z.number(), z.boolean()]);

/** A test may be written as its kind alone: `- not_null`. */
const short = <T extends z.ZodType>(schema: T) =>
  z.preprocess((value) => (typeof value === 'string' ? { kind: value } : value), schema);

const columnTest = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('unique'), severity }),
  z.strictObject({ kind: z.literal('not_null'), severity }),
  z.strictObject({ kind: z.literal('accepted_values'), values: z.array(scalar).nonempty(), severity }),
  z.strictObject({
    kind: z.literal('relationships'),
    /** Column that holds the value, as `table.column`. */
    to: z.string().regex(/^\w+\.\w+$/),
    severity,
  }),
]);

const modelTest = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('unique'), columns: z.array(z.string()).nonempty(), severity }),
  /** SQL that must be true of each row; null does not pass. */
  z.strictObject({ kind: z.literal('expression'), sql: z.string(), severity }),
]);

const column = z.strictObject({
  description: z.string(),
  unit: z.string().optional(),
  /** Name that the column had before it was renamed, so that it keeps its id in Parquet and Iceberg. */
  was: z.string().optional(),
  tests: z.array(short(columnTest)).default([]),
});

export const definition = z.strictObject({
  /**
   * How it exists: as a Parquet file of the snapshot (the default), as a view that is computed when it is asked, or as
   * none, a step of the run alone, which models after it read: a view, or a file if several models read it.
   */
  exists: z.enum(['file', 'view', 'none']).optional(),
  /** Whether each night tells which rows are new in a model of the user and which left it. */
  watch: z.boolean().optional(),
  /** The question that the model answers, and by which rules. */
  description: z.string(),
  /** What one row is. */
  grain: z.string(),
  /** Columns that identify a row; tested as unique, and the order of the rows in the file. */
  key: z.array(z.string()).nonempty(),
  columns: z.record(z.string(), column).transform(byName),
  tests: z.array(modelTest).default([]),
});

/** The .yml of a model of lotlake. */
const bundledDefinition = definition.extend({
  /** Rules of the model in Markdown, one a list item; docs/ask/marts.md is made from them. */
  notes: z.array(z.string()).nonempty().optional(),
  /** Tables of the database of its name, for a step that lotlake computes outside of SQL, see {@link OUTSIDE}. */
  gives: z.array(z.string()).nonempty().optional(),
});

/** The .yml of a seed also has the type of each column. */
const seedDefinition = definition.extend({
  columns: z.record(z.string(), column.extend({ type: z.string() })).transform(byName),
});

/** What a failed test does: an error holds the snapshot back, a warning is reported. */
export type Severity = z.output<typeof severity>;

/** A test of one column. */
export type ColumnTest = Readonly<z.output<typeof columnTest>>;

/** A test of a model's rows. */
export type ModelTest = Readonly<z.output<typeof modelTest>>;

/**
 * The layers of lotlake's models, each a folder of `sql/models`. A model reads its own layer and those before it; seeds
 * are before all. `offers` ends with the prices that are doubted, so that all after it leave them out. The examples are
 * computed where the configuration names them.
 */
export const LAYERS = [
  'seeds',
  'shared',
  'offers',
  'sales',
  'stock',
  'reports',
  'market',
  'examples',
] as const;

/** A layer, see {@link LAYERS}. */
export type Layer = (typeof LAYERS)[number];

/** A model: one SELECT and its description in the .yml. The SELECT of a seed reads a CSV file. */
export type Model = Readonly<z.output<typeof definition>> & {
  readonly name: string;
  readonly sql: string;
  /** The layer of a model of lotlake. */
  readonly layer?: Layer;
  /** Its rules in Markdown, of a model of lotlake. */
  readonly notes?: readonly string[] | undefined;
  readonly isSeed?: boolean;
  /** The tables that it computes outside of SQL, see {@link OUTSIDE}. */
  readonly gives?: readonly string[] | undefined;
  /** Whether it is a model of the user. */
  readonly isOwn?: boolean;
  /** SHA-256 of the CSV file of a seed. */
  readonly digest?: string;
};

/** The model that has the rows of the user's tables of costs. */
export const COST_ROWS = 'cost_rows';

/** Whether a model only has rows that are given, by a file of seeds or by tables of costs, so that a snapshot keeps them. */
export const isGiven = ({ name, isSeed }: Pick<Model, 'name' | 'isSeed'>): boolean =>
  isSeed === true || name === COST_ROWS;

/** The error for a model or test that cannot be computed. */
export const modelFailed = (what: string, error: unknown): LotlakeError =>
  new LotlakeError('MODEL_FAILED', `${what}: ${messageOf(error)}`, {
    cause: error,
    hint: 'the last snapshot stays current',
  });

const modelsFolder: string = join(packageRoot, 'sql', 'models');
const seedsFolder: string = join(packageRoot, 'sql', 'seeds');

const READS_OUTSIDE = new RegExp(`\\b(from|join) (${OUTSIDE.join('|')})\\.`);

/** Whether a model is computed outside of SQL, or reads what such a step gives. */
export const isOutside = ({ name, sql }: Pick<Model, 'name' | 'sql'>): boolean =>
  OUTSIDE.includes(name) || READS_OUTSIDE.test(sql);

/** The models and seeds that lotlake computes every night, by name. Throws MODEL_DEFINITION as {@link readModelsOf} does. */
export function readModels(): readonly Model[] {
  own ??= LAYERS.filter((layer) => layer !== 'examples')
    .flatMap(readLayer)
    .sort((a, b) => (a.name < b.name ? -1 : 1));
  return own;
}

/** The models of a layer. */
export function readLayer(layer: Layer): readonly Model[] {
  const models =
    layer === 'seeds'
      ? namesIn(seedsFolder, '.csv').map((name) => readSeed(name))
      : readModelsOf(join(modelsFolder, layer), bundledDefinition);
  return models.map((model) => ({ ...model, layer }));
}

/**
 * Reads the models of a folder, each `<name>.sql` with `<name>.yml`, sorted by name. Throws MODEL_DEFINITION with the
 * file and the place in it that is not valid.
 */
export const readModelsOf = (folder: string, schema: typeof definition = definition): readonly Model[] =>
  namesIn(folder, '.sql').map((name) => readModel(folder, name, schema));

/** The models that come with lotlake do not change while a process runs. */
let own: readonly Model[] | undefined;

/**
 * Replaces seeds by the files of the same name in a folder of the user, if there is one.
 * Throws ConfigError if the folder is missing, and for a file that is not a seed or has other columns.
 */
export function withOwnSeeds(models: readonly Model[], folder: string | undefined): readonly Model[] {
  if (folder === undefined) return models;
  if (!existsSync(folder)) throw new ConfigError(`seeds: there is no folder ${folder}`);
  const known = readModels().flatMap(({ name, isSeed }) => (isSeed ? [`${name}.csv`] : []));
  const files = readdirSync(folder).filter((file) => !file.startsWith('.'));
  const unknown = files.find((file) => !known.includes(file));
  if (unknown !== undefined)
    throw new ConfigError(
      `seeds: ${join(folder, unknown)} is not a seed of lotlake`,
      `files there: ${known.join(', ')}`,
    );
  const seeds = files.map((file) => readSeed(basename(file, '.csv'), folder));
  return models.map((model) => seeds.find(({ name }) => name === model.name) ?? model);
}

/** Makes views among models exist as files, by their names. Throws ConfigError for a name that is no view. */
export function withFiles(models: readonly Model[], names: readonly string[]): readonly Model[] {
  const views = models.filter(({ exists }) => exists === 'view').map(({ name }) => name);
  const unknown = names.find((name) => !views.includes(name));
  if (unknown !== undefined)
    throw new ConfigError(`asFiles: ${unknown} is no view`, `views: ${views.join(', ')}`);
  return models.map((model) => (names.includes(model.name) ? { ...model, exists: 'file' } : model));
}

/** Names of the files with an extension in a folder. Throws MODEL_DEFINITION for a .yml without such a file. */
function namesIn(folder: string, extension: string): readonly string[] {
  const files = readdirSync(folder).sort();
  const alone = files.find(
    (file) => file.endsWith('.yml') && !files.includes(`${basename(file, '.yml')}${extension}`),
  );
  if (alone === undefined)
    return files.filter((file) => file.endsWith(extension)).map((file) => basename(file, extension));
  throw new LotlakeError(
    'MODEL_DEFINITION',
    `${join(folder, alone)} describes a model that has no ${extension}`,
  );
}

/** Reads one model of a folder. Throws as {@link readModelsOf} does. */
export function readModel(folder: string, name: string, schema: typeof definition = definition): Model {
  const sql = textIn(join(folder, `${name}.sql`)).trim();
  return { name, sql, ...readDefinition(join(folder, `${name}.yml`), schema) };
}

/** @param folder where its CSV file is */
function readSeed(name: string, folder: string = seedsFolder): Model {
  const described = readDefinition(join(seedsFolder, `${name}.yml`), seedDefinition);
  const path = join(folder, `${name}.csv`);
  const content = readFileSync(path);
  const [line] = content
    .toString()
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/, 1);
  // The CSV file is read by the position of its columns.
  const header = Object.keys(described.columns).join(',');
  if (line !== header)
    throw new ConfigError(`seeds: ${path} begins with ${line}`, `its first line must be ${header}`);
  const types = Object.entries(described.columns).map(
    ([column, { type }]) => `${literal(column)}: ${literal(type)}`,
  );
  const options = `columns = {${types.join(', ')}}, header = true, auto_detect = false, hive_partitioning = false, quote = '"', escape = '"'`;
  const sql = `select * from read_csv(${literal(path)}, ${options})`;
  const digest = createHash('sha256').update(content).digest('hex');
  return { name, sql, isSeed: true, digest, ...described };
}

function readDefinition<T extends typeof definition | typeof seedDefinition>(
  path: string,
  schema: T,
): z.output<T> {
  const fail = (problem: string, rest: { cause?: unknown } = {}): LotlakeError =>
    new LotlakeError('MODEL_DEFINITION', `${path}${problem}`, rest);
  let content: unknown;
  try {
    content = load(textIn(path));
    assertSize(content);
  } catch (cause) {
    throw fail(` cannot be read: ${messageOf(cause)}`, { cause });
  }
  const parsed = schema.safeParse(content);
  if (!parsed.success) throw fail(`: ${z.prettifyError(parsed.error)}`);
  const { key, columns, tests } = parsed.data;
  const used = [...key, ...tests.flatMap((test) => (test.kind === 'unique' ? test.columns : []))];
  const unknown = used.find((column) => columns[column] === undefined);
  if (unknown !== undefined) throw fail(`: ${unknown} is used as a key and is not among columns`);
  return parsed.data as z.output<T>;
}
