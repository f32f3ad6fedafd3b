import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { incremental } from '../../pipelines/incremental.js';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { readConfig } from '../../src/config/config.js';
import { landPage } from '../../src/land/page.js';
import { PageScanner } from '../../src/land/scan-page.js';
import { contractOf } from '../../src/service/contract/node.js';
import { streams } from '../../src/service/streams.js';

/** What one measured piece of work tells its parent: seconds, bytes of JSON and peak memory of the process. */
export interface Measured {
  readonly seconds: number;
  readonly bytes: number;
  readonly peakBytes: number;
}

const contract = contractOf(streams.cars.schema);
const [what = '', folder = '', output = '', url = ''] = process.argv.slice(2);
const { readdirSync, createReadStream, rmSync } = await import('node:fs');
const { createGunzip } = await import('node:zlib');
const files = (name: string): string[] =>
  readdirSync(join(folder, name))
    .sort()
    .map((file) => join(folder, name, file));

async function timed(work: () => Promise<number> | number): Promise<void> {
  const start = performance.now();
  const bytes = await work();
  const seconds = (performance.now() - start) / 1000;
  const peakBytes = process.resourceUsage().maxRSS * 1024;
  process.stdout.write(JSON.stringify({ seconds, bytes, peakBytes } satisfies Measured));
}

const CHUNK = 1 << 18;
const pipeline = {
  step: () => undefined,
  progress: () => undefined,
  warn: (text: string) => console.error(text),
};
const config = () =>
  readConfig(
    { output, baseUrl: url === '' ? 'http://127.0.0.1:1/api' : url, rate: 1e6 },
    { env: { LOTLAKE_API_KEY: 'bench' } },
  );

const tasks: Record<string, () => Promise<void>> = {
  /** Cut and observed shape over bytes in memory, one page after the other. */
  scan: async () => {
    const pages = files('pages')
      .slice(0, 30)
      .map((file) => readFileSync(file));
    await timed(() => {
      let bytes = 0;
      for (const page of pages) {
        const scanner = new PageScanner(contract, 'id');
        for (let i = 0; i < page.length; i += CHUNK) scanner.push(page.subarray(i, i + CHUNK));
        scanner.flush();
        scanner.finish();
        bytes += page.length;
      }
      return bytes;
    });
  },
  'json-parse': async () => {
    const pages = files('pages')
      .slice(0, 30)
      .map((file) => readFileSync(file));
    await timed(() => {
      let bytes = 0;
      for (const page of pages) {
        JSON.parse(page.toString());
        bytes += page.length;
      }
      return bytes;
    });
  },
  /** Gunzip, scan, check, gzip and write, one page after the other. */
  land: async () => {
    await timed(async () => {
      let bytes = 0;
      for (const [i, file] of files('gzipped').slice(0, 30).entries()) {
        const path = join(output, `page-${i}.ndjson.gz`);
        const body = createReadStream(file).pipe(createGunzip({ chunkSize: CHUNK }));
        bytes += (await landPage(body, { path, url: file, contract, idField: 'id' })).scan.bytes;
      }
      return bytes;
    });
  },
  'one-liner': async () => {
    const instance = await DuckDBInstance.create(':memory:');
    const connection = await instance.connect();
    rmSync(output, { force: true });
    await timed(async () => {
      await connection.run(
        `copy (select unnest(data) from read_json('${folder}/pages/*.json', maximum_object_size = 67108864)) to '${output}' (compression zstd)`,
      );
      return 0;
    });
  },
  nightly: () =>
    timed(async () => {
      const result = await nightly({ config: config(), reporter: pipeline });
      return result.passes.reduce((sum, pass) => sum + pass.manifest.bytes, 0);
    }),
  incremental: () =>
    timed(async () => {
      const result = await incremental({ config: config(), reporter: pipeline });
      return result.passes.reduce((sum, pass) => sum + pass.manifest.bytes, 0);
    }),
  rebuild: () =>
    timed(async () => {
      const result = await rebuild({ config: config(), reporter: pipeline });
      return result.passes.reduce((sum, pass) => sum + pass.manifest.bytes, 0);
    }),
};

await tasks[what]?.();
