import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { load } from 'js-yaml';
import { z } from 'zod';
import { ConfigError, LotlakeError, messageOf } from '../config/lotlake-error.js';
import { packageRoot } from '../config/package-root.js';
import { literal } from '../duck/session.js';

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
  tests: z.array(short(columnTest)).default([]),
});

export const definition = z.strictObject({
  /** The question that the model answers, and by which rules. */
  description: z.string(),
  /** What one row is. */
  grain: z.string(),
  /** Columns that tell rows apart; tested as unique, and the order of the rows in the file. */
  key: z.array(z.string()).nonempty(),
  columns: z.record(z.string(), column),
  tests: z.array(modelTest).default([]),
});

/** The .yml of a seed also says of which type each column of its file is. */
const seedDefinition = definition.extend({
  columns: z.record(z.string(), column.extend({ type: z.string() })),
});

/** How much a failed test weighs: an error holds the snapshot back, a warning is reported. */
export type Severity = z.output<typeof severity>;

/** A test of one column. */
export type ColumnTest = Readonly<z.output<typeof columnTest>>;

/** A test of a model's rows. */
export type ModelTest = Readonly<z.output<typeof modelTest>>;

/** A model: one SELECT and what its .yml says of it. Of a seed, the SELECT reads a CSV file. */
export type Model = Readonly<z.output<typeof definition>> & {
  readonly name: string;
  readonly sql: string;
  readonly isSeed?: boolean;
  /** Whether its SELECT reads what lotlake fitted to price_inputs; then DuckDB alone computes it. */
  readonly isFitted?: boolean;
  /** Whether it is one of the user's. */
  readonly isOwn?: boolean;
  /** SHA-256 of the CSV file of a seed. */
  readonly digest?: string;
};

/** The error of a model or test that cannot be computed. */
export const modelFailed = (what: string, error: unknown): LotlakeError =>
  new LotlakeError('MODEL_FAILED', `${what}: ${messageOf(error)}`, {
    cause: error,
    hint: 'the last snapshot stays current',
  });

const martsFolder: string = join(packageRoot, 'sql', 'marts');
const seedsFolder: string = join(packageRoot, 'sql', 'seeds');

/**
 * Reads the models of a folder, `<name>.sql` with `<name>.yml` beside it, by name; those of lotlake with its seeds.
 * Throws MODEL_DEFINITION with the file and the place in it that is not valid.
 */
export function readModels(folder: string = martsFolder): readonly Model[] {
  if (folder !== martsFolder) return readFolder(folder, '.sql', readModel);
  own ??= [...readFolder(folder, '.sql', readModel), ...readFolder(seedsFolder, '.csv', readSeed)].sort(
    (a, b) => (a.name < b.name ? -1 : 1),
  );
  return own;
}

/** The models that come with lotlake do not change while a process runs. */
let own: readonly Model[] | undefined;

/**
 * The models, with the seeds of a folder of the user in the place of those of the same name; all of lotlake's own where
 * there is no folder.
 * Throws ConfigError for a folder that is missing, and for a file that is no seed or has other columns.
 */
export function withOwnSeeds(models: readonly Model[], folder: string | undefined): readonly Model[] {
  if (folder === undefined) return models;
  if (!existsSync(folder)) throw new ConfigError(`seeds: there is no folder ${folder}`);
  const known = readModels().filter(({ isSeed }) => isSeed);
  const found = readdirSync(folder).filter((file) => !file.startsWith('.'));
  const strange = found.find((file) => !known.some(({ name }) => file === `${name}.csv`));
  if (strange !== undefined)
    throw new ConfigError(
      `seeds: ${join(folder, strange)} is no seed of lotlake`,
      `files there: ${known.map(({ name }) => `${name}.csv`).join(', ')}`,
    );
  for (const { name, columns } of known)
    if (found.includes(`${name}.csv`)) assertHeader(join(folder, `${name}.csv`), Object.keys(columns));
  return models.map((model) =>
    model.isSeed && found.includes(`${model.name}.csv`) ? readSeed(seedsFolder, model.name, folder) : model,
  );
}

/** A seed is read by the places of its columns. */
function assertHeader(path: string, columns: readonly string[]): void {
  const [line = ''] = readFileSync(path, 'utf8')
    .replace(/^\uFEFF/, '')
    .split(/\r?\n/, 1);
  if (line !== columns.join(','))
    throw new ConfigError(
      `seeds: ${path} begins with ${line}`,
      `its first line must be ${columns.join(',')}`,
    );
}

function readFolder(
  folder: string,
  extension: string,
  read: (folder: string, name: string) => Model,
): readonly Model[] {
  const files = readdirSync(folder).sort();
  for (const file of files) {
    if (!file.endsWith('.yml') || files.includes(`${basename(file, '.yml')}${extension}`)) continue;
    throw new LotlakeError(
      'MODEL_DEFINITION',
      `${join(folder, file)} describes a model that has no ${extension}`,
    );
  }
  return files
    .filter((file) => file.endsWith(extension))
    .map((file) => read(folder, basename(file, extension)));
}

function readModel(folder: string, name: string): Model {
  const sql = readFileSync(join(folder, `${name}.sql`), 'utf8').trim();
  const isFitted = /\b(from|join) fit\./.test(sql);
  return { name, sql, isFitted, ...readDefinition(join(folder, `${name}.yml`), definition) };
}

/** @param files folder of the CSV file, where it is not the one of the .yml */
function readSeed(folder: string, name: string, files: string = folder): Model {
  const described = readDefinition(join(folder, `${name}.yml`), seedDefinition);
  const types = Object.entries(described.columns).map(
    ([column, { type }]) => `${literal(column)}: ${literal(type)}`,
  );
  const options = `columns = {${types.join(', ')}}, header = true, auto_detect = false, quote = '"', escape = '"'`;
  const path = join(files, `${name}.csv`);
  const sql = `select * from read_csv(${literal(path)}, ${options})`;
  const digest = createHash('sha256').update(readFileSync(path)).digest('hex');
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
    content = load(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw fail(` cannot be read: ${messageOf(cause)}`, { cause });
  }
  const parsed = schema.safeParse(content);
  if (!parsed.success) throw fail(`: ${z.prettifyError(parsed.error)}`);
  const { key, columns, tests } = parsed.data;
  const used = [...key, ...tests.flatMap((test) => (test.kind === 'unique' ? test.columns : []))];
  const strange = used.find((column) => columns[column] === undefined);
  if (strange !== undefined) throw fail(`: ${strange} is used as a key and is not among columns`);
  return parsed.data as z.output<T>;
}
