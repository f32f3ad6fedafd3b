import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { byName } from '../../base/config/json.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { isLink, replaceFile } from '../../base/config/owned.js';
import { version } from '../../base/config/package-root.js';
import type { StreamName } from '../service/streams.js';
import { ID, MOST_SEQUENCE } from './ids.js';

/** Format of tables, manifest and landing. This code writes and reads no other. */
export const SCHEMA_VERSION = 4;

/*
 * A lake may come from anywhere. Names, ids and paths of a manifest become names of files and parts of SQL, so they have the
 * forms that lotlake makes.
 */
const id = z.string().regex(ID);
const count = z.int().min(0);
const instant = z.iso.datetime();
/** Texts of one line for people. */
const text = z
  .string()
  .max(1000)
  .regex(/^[^\p{Cc}]*$/u);

/** A name of a column, table, mart or view. Objects cannot hold `__proto__` as they hold other names. */
export const columnName = z
  .string()
  .max(63)
  .regex(/^(?!__proto__$)[A-Za-z_][A-Za-z0-9_]*$/);
const name = columnName;

const fileSchema = z.object({
  /** Path below the snapshot folder. */
  path: z.string().regex(/^[a-z][a-z0-9_]*(\/\w+=[\w%-][\w%.-]*)*\/[\w-][\w.-]*\.parquet$/),
  bytes: count,
  rows: count,
  /** SHA-256 in hex; undefined until the snapshot is sealed. */
  sha256: z
    .string()
    .regex(/^[0-9a-f]{64}$/)
    .optional(),
});

/** A column with its id in Parquet and Iceberg, and the id of its elements if it is a list. They never change. */
const fieldSchema = z.object({
  name,
  type: text,
  field_id: z.int().positive(),
  element_id: z.int().positive().optional(),
});

/** The ids that a table has given. */
const fieldsSchema = z.object({
  columns: z.array(fieldSchema),
  /** Columns that it no longer has. Their ids are not given again. */
  dropped: z.array(fieldSchema).optional(),
});

const tableSchema = z.object({
  ...fieldsSchema.shape,
  key: z.array(name),
  partitioned: z.boolean(),
  rows: count,
  bytes: count,
  files: z.array(fileSchema),
});

/** Tables by name. The files of each lie in its folder. */
const tablesSchema = z
  .record(name.lowercase(), tableSchema)
  .refine(
    (tables) =>
      Object.entries(tables).every(([table, { files }]) =>
        files.every(({ path }) => path.startsWith(`${table}/`)),
      ),
    { error: 'a file lies in the folder of another table' },
  )
  .refine(
    (tables) =>
      Object.values(tables).every(
        ({ files }) => new Set(files.map(({ path }) => path)).size === files.length,
      ),
    { error: 'a table names a file twice' },
  )
  .transform(byName);

/** The columns of a view or of a mart: no two have names that differ in case alone, since DuckDB does not tell them apart. */
const columnsSchema = z
  .array(z.object({ name, type: text }))
  .refine((columns) => new Set(columns.map((column) => column.name.toLowerCase())).size === columns.length, {
    error: 'two columns have the same name',
  });

/** A model that is computed when it is asked, from tables, marts and views before it. */
const viewSchema = z.object({
  columns: columnsSchema,
  key: z.array(name),
  sql: z.string(),
  /** Tables, marts and views that its SELECT reads. */
  reads: z.array(name),
});

const manifestSchema = z.object({
  snapshot_id: id,
  schema_version: z.literal(SCHEMA_VERSION),
  /** Version of lotlake that wrote it. */
  lotlake_version: text,
  /** Service of the lake; null if no run has named it. */
  origin: text.nullable(),
  run_id: id,
  /**
   * Place of the snapshot in the order of the lake: greater than that of every snapshot and pass before it. Ids and times follow
   * clocks, which may be set back.
   */
  sequence: count.max(MOST_SEQUENCE),
  pipeline: text,
  created_at: instant,
  /** Start of the last whole pass over each stream in the lake; `cars:3` is the last pass over source 3 alone. */
  last_pass_at: z.record(z.string().regex(/^[a-z_]+(:\d+)?$/), instant),
  /** Passes that the run of this snapshot merged. */
  pass_ids: z.array(id),
  /** Fingerprints of the records that the snapshot was made from, and of the code that read them. */
  fingerprints: z.object({ records: count, code: text }).nullable(),
  /** Fingerprint of the contract, SQL, seeds and settings that tables and marts were made by. */
  recipe: text.optional(),
  /** The user's models and checks by their definitions (`model/own-models.ts` reads them), and what is left out. */
  own: z
    .object({
      models: z.array(z.unknown()),
      checks: z.array(z.unknown()),
      /** Models and checks that are not in the snapshot, and why; `watch` as the model has it, if its .yml can be read. */
      left_out: z.array(z.object({ name: text, reason: z.string(), watch: z.boolean().optional() })),
    })
    .optional(),
  tables: tablesSchema,
  marts: tablesSchema,
  views: z.record(name.lowercase(), viewSchema).transform(byName),
  /** The ids of tables and marts that earlier snapshots had, such as those of a model that failed. */
  absent: z.record(name.lowercase(), fieldsSchema).transform(byName).optional(),
});

/** The members that are read first. Another format may have changed all others. */
const formatSchema = z.object({
  schema_version: z.int(),
  lotlake_version: z.string().catch('of another version'),
});

export type LakeFile = Readonly<z.output<typeof fileSchema>>;

export type ManifestTable = Readonly<z.output<typeof tableSchema>>;

export type ManifestView = Readonly<z.output<typeof viewSchema>>;

/** `manifest.json` of a snapshot: what it holds and which run made it. */
export type Manifest = Readonly<z.output<typeof manifestSchema>>;

/** Tables and marts of a manifest by name. */
export const allTables = (manifest: Pick<Manifest, 'tables' | 'marts'>): Manifest['tables'] =>
  byName({ ...manifest.tables, ...manifest.marts });

/** Names of all tables, marts and views of a manifest. */
export const allNames = ({ tables, marts, views }: Manifest): string[] =>
  [tables, marts, views].flatMap((each) => Object.keys(each));

/** Files of all tables and marts of a manifest. */
export const allFiles = (manifest: Manifest) =>
  Object.values(allTables(manifest)).flatMap(({ files }) => files);

/**
 * Validates the content of a manifest. Throws LAKE_MANIFEST if it is not valid or of an earlier format, which landing replaces,
 * and LAKE_FORMAT if it is of a later one.
 */
export function manifestFrom(content: unknown, path: string, hint = REBUILD): Manifest {
  const { schema_version: format = SCHEMA_VERSION, lotlake_version: by } =
    formatSchema.safeParse(content).data ?? {};
  const other = `${path} has format ${format}, written by lotlake ${by}; this is lotlake ${version}, which knows format ${SCHEMA_VERSION} alone`;
  if (format > SCHEMA_VERSION)
    throw new LotlakeError('LAKE_FORMAT', other, {
      outcome: 'usage',
      hint: 'nothing was changed; install that version of lotlake, or a later one',
    });
  if (format < SCHEMA_VERSION)
    throw new LotlakeError('LAKE_MANIFEST', other, {
      hint: `${hint}; a landing of an earlier format cannot be read either: then name another --output, and run lotlake run nightly`,
    });
  const parsed = manifestSchema.safeParse(content);
  if (parsed.success) return parsed.data;
  const reason = z.prettifyError(parsed.error);
  throw new LotlakeError('LAKE_MANIFEST', `${path} is not valid: ${reason}`, { hint });
}

/** Reads the manifest of a snapshot. Throws LAKE_MANIFEST if there is none, and the errors of {@link manifestFrom}. */
export function readManifest(snapshot: string): Manifest {
  const path = join(snapshot, 'manifest.json');
  let content: unknown;
  try {
    if (isLink(snapshot) || isLink(path)) throw new TypeError('it is a link');
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new LotlakeError('LAKE_MANIFEST', `${path} cannot be read`, { cause, hint: REBUILD });
  }
  return manifestFrom(content, path);
}

/** The manifest of a snapshot, or the error if it is damaged. Throws LAKE_FORMAT if a later lotlake wrote it. */
export function manifestOrDamage(snapshot: string): Manifest | LotlakeError {
  try {
    return readManifest(snapshot);
  } catch (error) {
    if (error instanceof LotlakeError && error.code === 'LAKE_MANIFEST') return error;
    throw error;
  }
}

/** The manifest of a snapshot; undefined if this version cannot read it. */
export function manifestIn(snapshot: string): Manifest | undefined {
  try {
    return readManifest(snapshot);
  } catch {
    return undefined;
  }
}

const REBUILD = 'run lotlake run rebuild to make the lake again from landing';

/** Writes the manifest of a snapshot, whole or not at all. */
export function writeManifest(snapshot: string, manifest: Manifest): void {
  replaceFile(join(snapshot, 'manifest.json'), `${JSON.stringify(manifest, null, 1)}\n`);
}

/** Key in a manifest for one source of a stream. */
export const streamOf = (stream: StreamName, source: number): string => `${stream}:${source}`;
