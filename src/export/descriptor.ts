import type { ColumnEntry } from '../docs/dictionary.js';
import { sumOf } from '../query/printable.js';
import type { ExportedTable, ExportFacts } from './plan.js';
import { about } from './readme.js';

/** Types of Table Schema by DuckDB's; lists are `array`, what else there is `string`. */
const FIELD_TYPES: readonly (readonly [RegExp, string])[] = [
  [/^(U?(BIG|SMALL|TINY|HUGE)?INT(EGER)?)$/, 'integer'],
  [/^(DOUBLE|FLOAT|DECIMAL.*)$/, 'number'],
  [/^BOOLEAN$/, 'boolean'],
  [/^TIMESTAMP/, 'datetime'],
  [/^DATE$/, 'date'],
  [/\]$/, 'array'],
];

/**
 * The `datapackage.json` of an export: a Frictionless Data Package, version 2. A resource of several files has the hash
 * of each in `parts`, since the standard has no hash for that; `unit` and `lotlake` are members of our own.
 */
export function descriptor(facts: ExportFacts, tables: readonly ExportedTable[]): object {
  const { request, manifest } = facts;
  return {
    $schema: 'https://datapackage.org/profiles/2.0/datapackage.json',
    name: `lotlake-${manifest.snapshot_id.toLowerCase()}`,
    title: `Vehicle auction data: ${tables.map(({ plan }) => plan.name).join(', ')}`,
    description: `Exported from the snapshot that lotlake published at ${manifest.created_at}.`,
    created: facts.createdAt,
    lotlake: {
      version: facts.version,
      snapshot: manifest.snapshot_id,
      published: manifest.created_at,
      profile: request.profile,
      where: request.where ?? null,
      columns: request.columns ?? null,
    },
    resources: tables.map((table) => resource(facts, table)),
  };
}

function resource({ request: { format } }: ExportFacts, { plan, files }: ExportedTable): object {
  const [first, ...others] = files;
  const hashed = (sha256: string | undefined): string => `sha256:${sha256}`;
  return {
    name: plan.name,
    type: 'table',
    title: plan.grain,
    description: plan.description,
    path: others.length === 0 ? first?.path : files.map(({ path }) => path),
    format,
    mediatype: about.formats[format].media,
    encoding: 'utf-8',
    bytes: sumOf(files, ({ bytes }) => bytes),
    ...(others.length === 0 ? { hash: hashed(first?.sha256) } : {}),
    rows: sumOf(files, ({ rows }) => rows),
    parts: files.map(({ path, rows, bytes, sha256 }) => ({ path, rows, bytes, hash: hashed(sha256) })),
    schema: {
      fields: plan.columns.map(field),
      ...(plan.key.length === 0 ? {} : { primaryKey: plan.key }),
      missingValues: [''],
    },
  };
}

function field(column: ColumnEntry): object {
  const type = FIELD_TYPES.find(([pattern]) => pattern.test(column.type))?.[1] ?? 'string';
  return {
    name: column.name,
    type,
    description: column.description,
    ...(column.unit === undefined ? {} : { unit: column.unit }),
  };
}
