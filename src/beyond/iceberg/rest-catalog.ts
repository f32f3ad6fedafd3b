import { request } from 'undici';
import { z } from 'zod';
import type { Config } from '../../base/config/config.js';
import { jsonIn } from '../../base/config/json.js';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { hideKey } from '../../base/config/redact.js';
import { agentFor } from '../../core/service/proxy.js';
import type { TableMetadata } from './metadata.js';

/** The Iceberg REST catalog of the configuration. */
type CatalogPlace = NonNullable<Config['publish']['catalog']>;

/** A table of the mirror. */
export interface CatalogEntry {
  readonly name: string;
  /** URI of its current `vN.metadata.json`. */
  readonly metadataUri: string;
  readonly metadata: TableMetadata;
  /** Folder for the metadata files that the catalog writes. */
  readonly folder: string;
}

/** Milliseconds without an answer after which a request fails. */
const TIMEOUT = 60_000;

/** Sends a request to the catalog and returns its answer; undefined if the status is `expected`. Throws ICEBERG_CATALOG. */
type Send = (method: 'GET' | 'POST', path: string, body?: object, expected?: number) => Promise<unknown>;

/**
 * Updates the tables of a catalog from a mirror: registers tables that it lacks, and commits new snapshots, columns and
 * removed snapshots to the others: in one transaction if the catalog says that it can, so that no reader sees tables of two
 * nights, otherwise one after the other. Throws ICEBERG_CATALOG.
 * @param token bearer token, which no message holds from now on; undefined if the catalog needs none
 * @returns numbers of tables by what was done
 */
export async function commitToCatalog(
  place: CatalogPlace,
  token: string | undefined,
  entries: readonly CatalogEntry[],
) {
  if (token !== undefined) hideKey(token);
  const send = senderTo(place, token);
  const { root, separator, isTransactional } = await readCatalogConfig(send, place);
  const namespaces = `${root}namespaces`;
  const levels = place.namespace.split('.');
  await send('POST', namespaces, { namespace: levels }, 409);
  const below = `${namespaces}/${levels.join(separator)}`;
  const missing: CatalogEntry[] = [];
  const changes: (Commit & { readonly name: string })[] = [];
  // One after the other, for small catalogs.
  for (const entry of entries) {
    const loaded = await send('GET', `${below}/tables/${entry.name}`, undefined, 404);
    if (loaded === undefined) missing.push(entry);
    else changes.push(...changesOf(entry, loaded).map((commit) => ({ ...commit, name: entry.name })));
  }
  if (isTransactional && changes.length > 0)
    await send('POST', `${root}transactions/commit`, {
      'table-changes': changes.map(({ name, ...commit }) => ({
        identifier: { namespace: levels, name },
        ...commit,
      })),
    });
  else for (const { name, ...commit } of changes) await send('POST', `${below}/tables/${name}`, commit);
  for (const { name, metadataUri } of missing)
    await send('POST', `${below}/register`, { name, 'metadata-location': metadataUri });
  const [registered, committed] = [missing.length, changes.length];
  return { registered, committed, unchanged: entries.length - registered - committed };
}

/** The commit that updates a table of the catalog, if it needs one. */
function changesOf({ name, metadata, folder }: CatalogEntry, loaded: unknown): Commit[] {
  const found = z.object({ metadata: catalogTable }).safeParse(loaded);
  if (!found.success) throw failed(`what it says of ${name} is not valid: ${z.prettifyError(found.error)}`);
  const theirs = found.data.metadata;
  if (theirs['table-uuid'] !== metadata['table-uuid'])
    throw failed(
      `its table ${name} is not the one of the mirror`,
      'name another namespace, or drop the table there',
    );
  // The catalog writes its metadata where a vacuum of the mirror does not remove it.
  return [planCatalogCommit(metadata, theirs, { 'write.metadata.path': folder })].flatMap(
    (plan) => plan ?? [],
  );
}

type Commit = NonNullable<ReturnType<typeof planCatalogCommit>>;

/** How a catalog says that it commits several tables in one transaction. */
const TRANSACTION = 'POST /v1/{prefix}/transactions/commit';

/**
 * Requests the configuration of a catalog: the start of its paths, what separates the levels of a namespace, and whether it
 * commits several tables in one transaction.
 */
async function readCatalogConfig(send: Send, { warehouse }: CatalogPlace) {
  const query = warehouse === undefined ? '' : `?warehouse=${encodeURIComponent(warehouse)}`;
  const facts = z
    .object({ prefix: z.string().optional(), 'namespace-separator': z.string().optional() })
    .default({});
  const answer = await send('GET', `config${query}`);
  const endpoints = z.array(z.string()).default([]);
  const config = z.object({ defaults: facts, overrides: facts, endpoints }).safeParse(answer);
  if (!config.success) throw failed(`its configuration is not valid: ${z.prettifyError(config.error)}`);
  const { defaults, overrides } = config.data;
  const { prefix, 'namespace-separator': separator = '%1F' } = { ...defaults, ...overrides };
  const isTransactional = config.data.endpoints.includes(TRANSACTION);
  return { root: prefix === undefined ? '' : `${prefix}/`, separator, isTransactional };
}

function senderTo({ uri }: CatalogPlace, token: string | undefined): Send {
  const base = `${uri.replace(/\/+$/, '')}/v1`;
  const dispatcher = agentFor(uri, { headersTimeout: TIMEOUT, bodyTimeout: TIMEOUT });
  const bearer = token === undefined ? {} : { authorization: `Bearer ${token}` };
  const headers = { 'content-type': 'application/json', ...bearer };
  return async (method, path, content, expected) => {
    const url = `${base}/${path}`;
    const body = content === undefined ? null : JSON.stringify(content);
    try {
      const answer = await request(url, { method, headers, body, dispatcher });
      const text = await answer.body.text();
      if (answer.statusCode === expected) return undefined;
      if (answer.statusCode < 300) return jsonIn(text) ?? {};
      throw refused(`${method} ${url}`, answer.statusCode, text);
    } catch (error) {
      if (error instanceof LotlakeError) throw error;
      throw failed(`${method} ${url}: ${messageOf(error)}`, undefined, error);
    }
  };
}

const problem = z.object({ error: z.object({ message: z.string() }) });

function refused(sent: string, status: number, text: string): LotlakeError {
  const message = problem.safeParse(jsonIn(text)).data?.error.message.split('\n')[0] ?? '';
  const hint = status === 401 || status === 403 ? 'give a token in LOTLAKE_CATALOG_TOKEN' : undefined;
  return failed(`${sent}: ${status} ${message}`, hint);
}

const failed = (message: string, hint = 'run lotlake push again', cause?: unknown): LotlakeError =>
  new LotlakeError('ICEBERG_CATALOG', `the catalog was not updated: ${message}`, {
    cause,
    retryable: true,
    hint: `the mirror has the new snapshot; ${hint}`,
  });

/** The members of a table in a catalog that a commit needs. */
const catalogTable = z.object({
  'table-uuid': z.string(),
  'current-snapshot-id': z.int().nullish(),
  schemas: z.array(z.object({ 'schema-id': z.int() })),
  'partition-specs': z.array(z.object({ 'spec-id': z.int() })),
  'sort-orders': z.array(z.object({ 'order-id': z.int() })),
  snapshots: z.array(z.object({ 'snapshot-id': z.int() })).default([]),
  properties: z.record(z.string(), z.string()).default({}),
});

type CatalogTable = z.output<typeof catalogTable>;

/** An update of a table in the REST catalog API. */
type Update = Readonly<{ action: string } & Record<string, unknown>>;

/**
 * Plans the commit that updates a table of a catalog from the metadata of lotlake. The catalog took over field ids and the
 * ids of schemas, specs and orders when the table was registered.
 * @param properties properties that the table has in the catalog alone
 * @returns the commit, which the catalog refuses unless its requirements hold; undefined if the table is up to date
 */
export function planCatalogCommit(
  ours: TableMetadata,
  theirs: CatalogTable,
  properties: Readonly<Record<string, string>>,
) {
  const known = new Set(theirs.snapshots.map((each) => each['snapshot-id']));
  const kept = new Set(ours.snapshots.map((each) => each['snapshot-id']));
  const gone = [...known].filter((id) => !kept.has(id));
  const current = ours['current-snapshot-id'];
  const updates = [
    ...shapeUpdates(ours, theirs),
    ...propertyUpdates({ ...ours.properties, ...properties }, theirs.properties),
    ...ours.snapshots
      .filter((each) => !known.has(each['snapshot-id']))
      .map((snapshot) => ({ action: 'add-snapshot', snapshot })),
    ...(theirs['current-snapshot-id'] === current
      ? []
      : [{ action: 'set-snapshot-ref', 'ref-name': 'main', type: 'branch', 'snapshot-id': current }]),
    ...(gone.length === 0 ? [] : [{ action: 'remove-snapshots', 'snapshot-ids': gone }]),
  ];
  if (updates.length === 0) return undefined;
  const before = theirs['current-snapshot-id'] ?? null;
  return {
    requirements: [
      { type: 'assert-table-uuid', uuid: theirs['table-uuid'] },
      { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': before },
    ],
    updates,
  };
}

/** Adds schemas, partition specs and sort orders that the catalog lacks. */
const shapeUpdates = (ours: TableMetadata, theirs: CatalogTable): Update[] => [
  ...added('schema', 'schema-id', ours.schemas, theirs.schemas, {
    action: 'set-current-schema',
    'schema-id': ours['current-schema-id'],
  }),
  ...added('spec', 'spec-id', ours['partition-specs'], theirs['partition-specs'], {
    action: 'set-default-spec',
    'spec-id': ours['default-spec-id'],
  }),
  ...added('sort-order', 'order-id', ours['sort-orders'], theirs['sort-orders'], {
    action: 'set-default-sort-order',
    'sort-order-id': ours['default-sort-order-id'],
  }),
];

/** Adds the items of a kind that the catalog lacks. If there are any, `current` selects the current one. */
function added<K extends string>(
  kind: string,
  key: K,
  ours: readonly Readonly<Record<K, number>>[],
  theirs: readonly Readonly<Record<K, number>>[],
  current: Update,
): Update[] {
  const missing = ours.filter((item) => theirs.every((each) => each[key] !== item[key]));
  if (missing.length === 0) return [];
  return [...missing.map((item) => ({ action: `add-${kind}`, [kind]: item })), current];
}

function propertyUpdates(
  ours: Readonly<Record<string, string>>,
  theirs: Readonly<Record<string, string>>,
): Update[] {
  const changed = Object.entries(ours).filter(([name, value]) => theirs[name] !== value);
  return changed.length === 0 ? [] : [{ action: 'set-properties', updates: Object.fromEntries(changed) }];
}
