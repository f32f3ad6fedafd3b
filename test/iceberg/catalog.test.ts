import { describe, expect, it } from 'vitest';
import type { DataFile } from '../../src/beyond/iceberg/avro.js';
import { NO_METRICS } from '../../src/beyond/iceberg/column-metrics.js';
import { planCommit } from '../../src/beyond/iceberg/commit-plan.js';
import type { PreviousMetadata } from '../../src/beyond/iceberg/manifests.js';
import { retainSnapshots, snapshotIdOf } from '../../src/beyond/iceberg/metadata.js';
import { commitToCatalog, planCatalogCommit } from '../../src/beyond/iceberg/rest-catalog.js';
import { serve } from '../pipelines/support.js';

const lots = {
  ...{ name: 'lots', description: 'Lots.', key: ['lot_id'], sort: ['lot_id'], partitioned: false },
  columns: [{ name: 'lot_id', type: 'BIGINT', field_id: 1 }],
};

const AT = 's3://bucket/tables/lots';

/** Metadata after a night with one file. */
const night = (id: string, table: typeof lots = lots, previous?: PreviousMetadata) => {
  const file: DataFile = {
    ...NO_METRICS,
    ...{ content: 0, file_path: `${AT}/${id}.parquet`, file_format: 'PARQUET' },
    ...{ partition: {}, record_count: 1, file_size_in_bytes: 1 },
  };
  return planCommit(table, AT, { id, time: Number(id), files: [file] }, ['1', '2', '3'], previous);
};

const entryOf = ({ metadata }: PreviousMetadata) => ({
  ...{
    name: 'lots',
    metadataUri: `${AT}/metadata/v1.metadata.json`,
    metadata,
    folder: 's3://bucket/catalog/lots',
  },
});

describe('a commit to a catalog', () => {
  it('is not needed if the table is up to date', () => {
    const { metadata } = night('1');
    expect(planCatalogCommit(metadata, metadata, {})).toBeUndefined();
  });

  it('adds each snapshot that the catalog lacks, and a new schema before it', () => {
    const first = night('1');
    const wider = { ...lots, columns: [...lots.columns, { name: 'fee', type: 'DOUBLE', field_id: 2 }] };
    const third = night('3', wider, night('2', lots, first));
    const commit = planCatalogCommit(third.metadata, first.metadata, {});
    expect(commit?.updates.map(({ action }) => action)).toEqual([
      ...['add-schema', 'set-current-schema', 'set-properties'],
      ...['add-snapshot', 'add-snapshot', 'set-snapshot-ref'],
    ]);
    expect(commit?.requirements).toEqual([
      { type: 'assert-table-uuid', uuid: first.metadata['table-uuid'] },
      { type: 'assert-ref-snapshot-id', ref: 'main', 'snapshot-id': snapshotIdOf('1') },
    ]);
  });

  it('removes snapshots that the mirror no longer keeps', () => {
    const second = night('2', lots, night('1'));
    const commit = planCatalogCommit(retainSnapshots(second.metadata, ['2']), second.metadata, {});
    expect(commit?.updates).toEqual([{ action: 'remove-snapshots', 'snapshot-ids': [snapshotIdOf('1')] }]);
  });
});

describe('a catalog', () => {
  it('is given the metadata of a table that it lacks, below its prefix, with the token', async () => {
    const tokens = new Set<string | undefined>();
    const server = await serve(({ pathname }, { headers }) => {
      tokens.add(headers.authorization);
      if (pathname.endsWith('/config')) return { body: { overrides: { prefix: 'mine' } } };
      return pathname.endsWith('/lots') ? { status: 404, body: {} } : { body: {} };
    });
    const place = { uri: server.url, warehouse: 'w', namespace: 'a.b' };
    const done = await commitToCatalog(place, 'token-of-a-catalog', [entryOf(night('1'))]).finally(
      server.close,
    );
    expect(done).toEqual({ registered: 1, committed: 0, unchanged: 0 });
    expect(server.requests).toEqual([
      '/api/v1/config?warehouse=w',
      '/api/v1/mine/namespaces',
      '/api/v1/mine/namespaces/a%1Fb/tables/lots',
      '/api/v1/mine/namespaces/a%1Fb/register',
    ]);
    expect([...tokens]).toEqual(['Bearer token-of-a-catalog']);
  });

  it.each([
    ['one transaction, if it says that it can', ['POST /v1/{prefix}/transactions/commit'], 1],
    ['one commit for each table, if it does not', undefined, 2],
  ])('gets the changes of all tables in %s', async (_, endpoints, commits) => {
    const second = night('2', lots, night('1'));
    const bodies: unknown[] = [];
    const server = await serve(({ pathname }, request) => {
      if (pathname.endsWith('/config')) return { body: { endpoints } };
      if (request.method === 'GET' && pathname.endsWith('/new')) return { status: 404, body: {} };
      if (request.method === 'GET') return { body: { metadata: night('1').metadata } };
      if (/commit|tables/.test(pathname)) {
        let text = '';
        request.on('data', (part) => {
          text += String(part);
        });
        request.on('end', () => bodies.push(JSON.parse(text)));
      }
      return { body: {} };
    });
    const place = { uri: server.url, namespace: 'a.b' };
    const entries = ['lots', 'sales', 'new'].map((name) => ({ ...entryOf(second), name }));
    const done = await commitToCatalog(place, undefined, entries).finally(server.close);
    expect(done).toEqual({ registered: 1, committed: 2, unchanged: 0 });
    expect(bodies).toHaveLength(commits);
    const below = '/api/v1/namespaces/a%1Fb';
    expect(server.requests.slice(5)).toEqual([
      ...(endpoints === undefined
        ? [`${below}/tables/lots`, `${below}/tables/sales`]
        : ['/api/v1/transactions/commit']),
      `${below}/register`,
    ]);
    const commit = planCatalogCommit(second.metadata, night('1').metadata, {
      'write.metadata.path': 's3://bucket/catalog/lots',
    });
    const change = JSON.parse(JSON.stringify(commit));
    expect(bodies).toEqual(
      endpoints === undefined
        ? [change, change]
        : [
            {
              'table-changes': ['lots', 'sales'].map((name) => ({
                identifier: { namespace: ['a', 'b'], name },
                ...change,
              })),
            },
          ],
    );
  });

  it('that refuses is named with its reason', async () => {
    const body = { error: { message: 'no such token', type: 'x', code: 401 } };
    const server = await serve(() => ({ status: 401, body }));
    const place = { uri: server.url, namespace: 'lotlake' };
    const refused = commitToCatalog(place, undefined, []);
    await expect(refused).rejects.toMatchObject({
      code: 'ICEBERG_CATALOG',
      message: expect.stringContaining('401 no such token'),
      hint: expect.stringContaining('LOTLAKE_CATALOG_TOKEN'),
    });
    await server.close();
  });

  it('whose configuration is not valid is named with what is wrong', async () => {
    const server = await serve(() => ({ body: { defaults: 'none' } }));
    const place = { uri: server.url, namespace: 'lotlake' };
    await expect(commitToCatalog(place, undefined, [])).rejects.toMatchObject({
      code: 'ICEBERG_CATALOG',
      message: expect.stringContaining('its configuration is not valid'),
    });
    await server.close();
  });

  it('that repeats the token is reported without it', async () => {
    const body = { error: { message: 'the token a-token-of-mine is stale' } };
    const server = await serve(() => ({ status: 401, body }));
    const place = { uri: server.url, namespace: 'lotlake' };
    const refused = commitToCatalog(place, 'a-token-of-mine', []);
    await expect(refused).rejects.toThrow(/: 401 the token … is stale$/);
    await server.close();
  });

  it('with another table of that name is left alone', async () => {
    const { metadata } = night('1');
    const other = { metadata: { ...metadata, 'table-uuid': '00000000-0000-0000-0000-000000000000' } };
    const server = await serve(() => ({ body: other }));
    const refused = commitToCatalog({ uri: server.url, namespace: 'lotlake' }, undefined, [
      entryOf(night('1')),
    ]);
    await expect(refused).rejects.toThrow(/is not the one of the mirror/);
    await server.close();
  });
});
