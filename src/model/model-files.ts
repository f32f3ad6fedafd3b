import { readdirSync, readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import { messageOf } from '../config/lotlake-error.js';
import { packageRoot } from '../config/package-root.js';
import { ModelError } from './model-error.js';

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

const definition = z.strictObject({
  /** The question that the model answers, and by which rules. */
  description: z.string(),
  /** What one row is. */
  grain: z.string(),
  /** Columns that tell rows apart; tested as unique, and the order of the rows in the file. */
  key: z.array(z.string()).nonempty(),
  columns: z.record(
    z.string(),
    z.strictObject({
      description: z.string(),
      unit: z.string().optional(),
      tests: z.array(short(columnTest)).default([]),
    }),
  ),
  tests: z.array(modelTest).default([]),
});

/** How much a failed test weighs: an error holds the snapshot back, a warning is reported. */
export type Severity = z.output<typeof severity>;

/** A test of one column. */
export type ColumnTest = Readonly<z.output<typeof columnTest>>;

/** A test of a model's rows. */
export type ModelTest = Readonly<z.output<typeof modelTest>>;

/** A model: one SELECT and what its .yml says of it. */
export type Model = Readonly<z.output<typeof definition>> & { readonly name: string; readonly sql: string };

/** Folder of the models that come with lotlake. */
export const martsFolder: string = join(packageRoot, 'sql', 'marts');

/**
 * Reads the models of a folder, `<name>.sql` with `<name>.yml` beside it, by name.
 * Throws ModelError (MODEL_DEFINITION) with the file and the place in it that is not valid.
 */
export function readModels(folder: string = martsFolder): readonly Model[] {
  if (folder !== martsFolder) return readFolder(folder);
  own ??= readFolder(folder);
  return own;
}

/** The models that come with lotlake do not change while a process runs. */
let own: readonly Model[] | undefined;

function readFolder(folder: string): readonly Model[] {
  const files = readdirSync(folder).sort();
  for (const file of files) {
    if (!file.endsWith('.yml') || files.includes(`${basename(file, '.yml')}.sql`)) continue;
    throw new ModelError('MODEL_DEFINITION', `${join(folder, file)} describes a model that has no .sql`);
  }
  return files
    .filter((file) => file.endsWith('.sql'))
    .map((file) => readModel(folder, basename(file, '.sql')));
}

function readModel(folder: string, name: string): Model {
  const sql = readFileSync(join(folder, `${name}.sql`), 'utf8').trim();
  const parsed = definition.safeParse(readYaml(join(folder, `${name}.yml`)));
  if (!parsed.success) {
    const path = join(folder, `${name}.yml`);
    throw new ModelError('MODEL_DEFINITION', `${path}: ${z.prettifyError(parsed.error)}`);
  }
  const { key, columns, tests } = parsed.data;
  const used = [...key, ...tests.flatMap((test) => (test.kind === 'unique' ? test.columns : []))];
  const strange = used.find((column) => columns[column] === undefined);
  if (strange !== undefined) {
    const path = join(folder, `${name}.yml`);
    throw new ModelError('MODEL_DEFINITION', `${path}: ${strange} is used as a key and is not among columns`);
  }
  return { name, sql, ...parsed.data };
}

function readYaml(path: string): unknown {
  try {
    return parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new ModelError('MODEL_DEFINITION', `${path} cannot be read: ${messageOf(error)}`, { cause: error });
  }
}
