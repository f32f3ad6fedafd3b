import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DuckDBInstance } from '@duckdb/node-api';
import { incremental } from '../../pipelines/incremental.js';
import { nightly } from '../../pipelines/nightly.js';
import { rebuild } from '../../pipelines/rebuild.js';
import { readConfig } from '../../src/base/config/config.js';
import { own } from '../../src/base/config/owned.js';
import { openTemporarySession } from '../../src/base/duck/session.js';
import { writeLocalMetadata } from '../../src/beyond/iceberg/local-metadata.js';
import { syncSnapshot } from '../../src/core/lake/describe.js';
import { layoutOf } from '../../src/core/lake/layout.js';
import { hasManifest, listSnapshots } from '../../src/core/lake/snapshots.js';
import { landPage } from '../../src/core/land/page.js';
import { dictionary } from '../../src/core/model/dictionary.js';
import { PageScanner } from '../../src/core/service/scan/scan-page.js';
import { streams } from '../../src/core/service/streams.js';
import { modelTimes, processorSeconds } from './growth.js';
import { modelMany } from './marts.js';
import { fitMany } from './prices.js';

/** What one measured piece of work reports to its parent. */
export interface Measured {
  readonly seconds: number;
  /** Processor time of its process. */
  readonly processorSeconds: number;
  /** Bytes of JSON that it worked on. */
  readonly bytes: number;
  /** Peak memory of its process. */
  readonly peakBytes: number;
  /** Anything else to report. */
  readonly text?: string;
}

/** The pieces of work that can be measured. */
export type Task =
  | 'scan'
  | 'json-parse'
  | 'land'
  | 'one-liner'
  | 'nightly'
  | 'nightly-without-models'
  | 'incremental'
  | 'rebuild'
  | 'rebuild-without-models'
  | 'paced'
  | 'iceberg'
  | 'marts'
  | 'models'
  | 'growth'
  | 'prices';

const { contract } = streams.cars;
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
  report((performance.now() - start) / 1000, bytes);
}

const CHUNK = 1 << 19;
const pipeline = {
  step: () => undefined,
  progress: () => undefined,
  warn: (text: string) => console.error(text),
};
const config = (rate = Number(process.env.LOTLAKE_BENCH_RATE ?? 1e6)) =>
  readConfig(
    // Each run serves the pages on another port.
    { output, baseUrl: url === '' ? 'http://127.0.0.1:1/api' : url, origin: 'bench', rate },
    { env: { LOTLAKE_API_KEY: 'bench' } },
  );

/** Reports how long a part of the process took. */
function report(seconds: number, bytes: number, text?: string): void {
  const measured: Measured = {
    ...{ seconds, bytes, processorSeconds: processorSeconds() },
    peakBytes: process.resourceUsage().maxRSS * 1024,
    ...(text === undefined ? {} : { text }),
  };
  process.stdout.write(JSON.stringify(measured));
}

/** The same pages several times, so that a moment in which the machine is busy weighs less. */
const repeat = <T>(pages: readonly T[]): T[] => [pages, pages, pages, pages].flat();

const tasks: Record<Task, () => Promise<void>> = {
  /** Cuts bytes in memory and observes their shape, one page after the other. */
  scan: async () => {
    const pages = files('pages')
      .slice(0, 30)
      .map((file) => readFileSync(file));
    await timed(() => {
      let bytes = 0;
      for (const page of repeat(pages)) {
        const scanner = new PageScanner(contract);
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
      for (const page of repeat(pages)) {
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
        bytes += (await landPage(body, { path, url: file, contract })).scan.bytes;
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
        `copy (select unnest(data) from read_json('${folder}/gzipped/*.json.gz', maximum_object_size = 67108864)) to '${output}' (compression zstd)`,
      );
      return 0;
    });
  },
  nightly: () =>
    timed(async () => {
      const result = await nightly({ config: config(), reporter: pipeline });
      return result.passes.reduce((sum, pass) => sum + pass.record.bytes, 0);
    }),
  /** What a night costs besides its models. */
  'nightly-without-models': () =>
    timed(async () => {
      const modelling = { models: [], checks: [] };
      const result = await nightly({ config: config(), reporter: pipeline, modelling });
      return result.passes.reduce((sum, pass) => sum + pass.record.bytes, 0);
    }),
  incremental: () =>
    timed(async () => {
      const result = await incremental({ config: config(), reporter: pipeline });
      return result.passes.reduce((sum, pass) => sum + pass.record.bytes, 0);
    }),
  rebuild: () =>
    timed(async () => {
      const result = await rebuild({ config: config(), reporter: pipeline });
      return result.passes.reduce((sum, pass) => sum + pass.record.bytes, 0);
    }),
  'rebuild-without-models': () =>
    timed(async () => {
      const modelling = { models: [], checks: [] };
      const result = await rebuild({ config: config(), reporter: pipeline, modelling });
      return result.passes.reduce((sum, pass) => sum + pass.record.bytes, 0);
    }),
  /** A nightly run at one page a second. It measures the time from the last byte of the feed to the published lake. */
  paced: async () => {
    const result = await nightly({ config: config(1), reporter: pipeline });
    const ended = Date.now();
    const cars = result.passes.find(({ record }) => record.stream === 'cars')?.record;
    if (cars?.ended_at == null) throw new Error('the pass over /cars has no end');
    const walked = (Date.parse(cars.ended_at) - Date.parse(cars.started_at)) / 1000;
    const since = (instant: number): number => (ended - instant) / 1000;
    // The small lists come last, also at one request a second.
    const after = since(Math.max(...result.passes.map(({ record }) => Date.parse(record.ended_at ?? ''))));
    const text = `${since(Date.parse(cars.ended_at)).toFixed(1)} s after the last page of /cars, ${walked.toFixed(0)} s of pages`;
    report(after, cars.bytes, text);
  },
  /** Iceberg metadata of the newest snapshot, on top of the metadata of the earlier ones, from a cold process. */
  iceberg: async () => {
    const { session, close } = await openTemporarySession({ memory: '1GB' });
    const snapshots = listSnapshots(layoutOf(output)).filter(hasManifest);
    const newest = snapshots.at(-1);
    if (newest === undefined) throw new Error(`${output} has no snapshot`);
    const descriptions = dictionary(newest.manifest);
    await writeLocalMetadata(session.connection, snapshots.slice(0, -1), descriptions);
    const start = performance.now();
    await writeLocalMetadata(session.connection, snapshots, descriptions);
    await syncSnapshot(newest.folder, snapshots.at(-2)?.folder);
    report((performance.now() - start) / 1000, 0);
    close();
  },
  /** The models and data tests of a published lake whose lots are copied under other ids until it has a million. */
  marts: async () => {
    const { lots, prices, seconds } = await modelMany(output);
    report(seconds, 0, `${seconds.toFixed(1)} s, ${lots} lots, ${prices} prices`);
  },
  /** The models and data tests of a published lake as it is. */
  models: async () => {
    const { lots, prices, seconds } = await modelMany(output, { lots: 1, prices: 1 });
    report(seconds, 0, `${seconds.toFixed(1)} s, ${lots} lots, ${prices} prices`);
  },
  /** The processor time of each model and each data test of a published lake, as JSON. */
  growth: async () => {
    const times = await modelTimes(output);
    report(
      Object.values(times).reduce((sum, seconds) => sum + seconds, 0),
      0,
      JSON.stringify(times),
    );
  },
  prices: async () => report(await fitMany(output), 0),
};

if (output !== '') own(output);
await tasks[what as Task]();
