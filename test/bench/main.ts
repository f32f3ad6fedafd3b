import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import Table from 'cli-table3';
import { packageRoot } from '../../src/config/package-root.js';
import type { Measured } from './child.js';
import { type BenchData, benchData } from './data.js';

const run = promisify(execFile);
const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));

/** Runs one piece of work in a process of its own, so that its peak memory is its own. */
async function measure(what: string, data: BenchData, output: string, url = ''): Promise<Measured> {
  const { stdout } = await run(process.execPath, [CHILD, what, data.folder, output, url], {
    maxBuffer: 1 << 26,
  });
  return JSON.parse(stdout);
}

/** Serves gzipped pages from memory, and lists without records for the other streams; a window has pages of its own. */
async function serve(
  pages: readonly string[],
  window: readonly string[],
): Promise<{ url: string; close(): void }> {
  const bodies = pages.map((file) => readFileSync(file));
  const windowBodies = window.map((file) => readFileSync(file));
  const empty = JSON.stringify({
    data: [],
    links: { next: null },
    meta: { current_page: 1, total: 0, last_page: 1 },
  });
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const list = url.searchParams.has('minutes') ? windowBodies : bodies;
    const body = url.pathname === '/api/cars' ? list[Number(url.searchParams.get('page')) - 1] : undefined;
    if (body === undefined) response.writeHead(200, { 'content-type': 'application/json' }).end(empty);
    else
      response.writeHead(200, { 'content-type': 'application/json', 'content-encoding': 'gzip' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/api`, close: () => server.close() };
}

const vehicles = Number(process.argv[2] ?? 100_000);
const small = Math.round(vehicles / 5);
const cache = join(packageRoot, '.bench');
const work = join(cache, 'work');
rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
const rate = (m: Measured): string => `${(m.bytes / 1e6 / m.seconds).toFixed(0)} MB/s`;
const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;

console.log(
  `${vehicles} vehicles on ${cpus().length} × ${cpus()[0]?.model}, ${megabytes(totalmem())}, Node ${process.version}`,
);
const data = benchData(cache, vehicles);
const less = benchData(cache, small);
const jsonBytes = data.pages.reduce((sum, file) => sum + statSync(file).size, 0);
console.log(`${megabytes(jsonBytes)} of JSON on ${data.pages.length} pages`);

const scan = await measure('scan', data, '');
const parse = await measure('json-parse', data, '');
const land = await measure('land', data, join(work, 'land'));
const oneFile = join(work, 'one.parquet');
const oneLiner = await measure('one-liner', data, oneFile);
const service = await serve(data.gzipped, data.window);
const night = await measure('nightly', data, join(work, 'lake'), service.url);
const again = await measure('nightly', data, join(work, 'lake'), service.url);
cpSync(join(work, 'lake'), join(work, 'copy'), { recursive: true, verbatimSymlinks: true });
const window = await measure('incremental', data, join(work, 'copy'), service.url);
rmSync(join(work, 'copy'), { recursive: true });
service.close();
const later = await serve(data.changed, data.window);
const second = await measure('nightly', data, join(work, 'lake'), later.url);
later.close();
rmSync(join(work, 'lake', 'lake'), { recursive: true });
for (const pass of readdirSync(join(work, 'lake', 'landing', 'cars')).slice(1))
  rmSync(join(work, 'lake', 'landing', 'cars', pass), { recursive: true });
const rebuilt = await measure('rebuild', data, join(work, 'lake'));
const lessService = await serve(less.gzipped, less.window);
const lessNight = await measure('nightly', less, join(work, 'less'), lessService.url);
lessService.close();

const lakeBytes = readdirSync(join(work, 'lake', 'lake', 'current'), { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.parquet'))
  .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);

const perSecond = (m: Measured): string =>
  `${Math.round(vehicles / m.seconds).toLocaleString('en')} vehicles/s`;
const grid = new Table({
  head: ['what', 'measured', 'ratio', 'target', ''],
  style: { head: [], border: [] },
});
function line(
  what: string,
  measured: string,
  ratio?: number,
  target?: { most?: number; least?: number },
): void {
  const met =
    ratio === undefined || target === undefined
      ? ''
      : ratio <= (target.most ?? Number.POSITIVE_INFINITY) && ratio >= (target.least ?? 0)
        ? 'met'
        : 'MISSED';
  const wanted =
    target?.most === undefined
      ? target?.least === undefined
        ? ''
        : `≥ ${target.least}`
      : `≤ ${target.most}`;
  grid.push([what, measured, ratio === undefined ? '' : ratio.toFixed(2), wanted, met]);
}
line('JSON.parse, one core', rate(parse));
line(
  'scan, one core, against JSON.parse',
  rate(scan),
  scan.bytes / scan.seconds / (parse.bytes / parse.seconds),
  { least: 3 },
);
line('land, one core (MB/s)', rate(land), land.bytes / 1e6 / land.seconds, { least: 100 });
line('one-liner', `${oneLiner.seconds.toFixed(1)} s`);
line(
  'rebuild, against the one-liner',
  `${rebuilt.seconds.toFixed(1)} s, ${rate(rebuilt)}, ${perSecond(rebuilt)}`,
  rebuilt.seconds / oneLiner.seconds,
  { most: 1.3 },
);
line(
  'nightly over loopback, against rebuild',
  `${night.seconds.toFixed(1)} s, ${rate(night)}, ${perSecond(night)}`,
  night.seconds / rebuilt.seconds,
  { most: 1.2 },
);
line(
  'a night in which 1 % changed, against the first',
  `${second.seconds.toFixed(1)} s`,
  second.seconds / night.seconds,
  { most: 0.5 },
);
line(
  'a night without a change, against the first',
  `${again.seconds.toFixed(1)} s`,
  again.seconds / night.seconds,
);
line(
  'incremental, 1 % changed, against the first night',
  `${window.seconds.toFixed(1)} s`,
  window.seconds / night.seconds,
  { most: 0.2 },
);
line('peak memory, rebuild (GB)', megabytes(rebuilt.peakBytes), rebuilt.peakBytes / 1e9, { most: 1.5 });
line('peak memory, nightly (GB)', megabytes(night.peakBytes), night.peakBytes / 1e9, { most: 1.5 });
line(
  `peak memory, nightly, against ${small} vehicles`,
  megabytes(lessNight.peakBytes),
  night.peakBytes / lessNight.peakBytes,
  { most: 2 },
);
line("the lake's files, against the one-liner's", megabytes(lakeBytes), lakeBytes / statSync(oneFile).size, {
  most: 1,
});
console.log(grid.toString());
rmSync(work, { recursive: true, force: true });
