import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync, statSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { packageRoot } from '../../src/base/config/package-root.js';
import type { Measured, Task } from './child.js';
import { CLI } from './command.js';
import { type BenchData, benchData } from './data.js';
import { growthOf, type ModelTimes, writeBudget } from './growth.js';
import { BenchReport } from './report.js';
import { serve } from './service.js';
import { compareStarts } from './starts.js';
import { addYears } from './years.js';

const run = promisify(execFile);
const CHILD = fileURLToPath(new URL('./child.js', import.meta.url));

const [size = '100000'] = process.argv.slice(2).filter((argument) => !argument.startsWith('--'));
const isLarge = process.argv.includes('--large');
const isOfYears = process.argv.includes('--years');
const vehicles = isLarge ? 500_000 : Number(size);
const cache = join(packageRoot, '.bench');
const work = join(cache, 'work');

/** Runs a task in its own process, to measure its own peak memory. */
async function measure(task: Task, data: BenchData, output = '', url = ''): Promise<Measured> {
  const { stdout } = await run(process.execPath, [CHILD, task, data.folder, output, url], {
    maxBuffer: 1 << 26,
  });
  return JSON.parse(stdout);
}

const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(0)} MB`;
const seconds = (measured: Measured): string => `${measured.seconds.toFixed(1)} s`;
const processor = ({ processorSeconds }: Measured): string =>
  `${processorSeconds.toFixed(1)} s of processor time`;
const speed = ({ bytes, seconds: s }: Measured): string => `${(bytes / 1e6 / s).toFixed(0)} MB/s`;
const perSecond = (measured: Measured): string =>
  `${Math.round(vehicles / measured.seconds).toLocaleString('en')} vehicles/s`;

/** All benchmarks except those that need a lake of the real size. */
async function compare(report: BenchReport): Promise<void> {
  const data = await benchData(cache, { vehicles, plain: true, near: true });
  const [lake, copy, oneFile] = [join(work, 'lake'), join(work, 'copy'), join(work, 'one.parquet')];
  describe(data);

  const parse = await measure('json-parse', data);
  const scan = await measure('scan', data);
  const ratio = scan.bytes / scan.seconds / (parse.bytes / parse.seconds);
  report.figure('scan, one core, × JSON.parse', `${speed(scan)}, ${speed(parse)}`, ratio, { least: 2 });
  const land = await measure('land', data, join(work, 'land'));
  report.figure('landing, one core, MB/s', speed(land), land.bytes / 1e6 / land.seconds, { least: 100 });

  const oneLiner = await measure('one-liner', data, oneFile);
  report.note('the one-liner', `${seconds(oneLiner)}, ${processor(oneLiner)}`);
  const service = await serve(data);
  const night = await measure('nightly', data, lake, service.url);
  const again = await measure('nightly', data, lake, service.url);
  cpSync(lake, copy, { recursive: true, verbatimSymlinks: true });
  const window = await measure('incremental', data, copy, service.url);
  rmSync(copy, { recursive: true });
  service.close();
  cpSync(lake, copy, { recursive: true, verbatimSymlinks: true });
  const auctions = await serve(data, 'near');
  const nearAuctions = await measure('nightly', data, copy, auctions.url);
  auctions.close();
  rmSync(copy, { recursive: true });
  const later = await serve(data, 'changed');
  const second = await measure('nightly', data, lake, later.url);
  later.close();
  const iceberg = await measure('iceberg', data, lake);
  keepFirstPass(lake);
  const bare = await measure('rebuild-without-models', data, lake);
  const rebuilt = await measure('rebuild', data, lake);
  const rebuiltText = `${seconds(rebuilt)}, ${speed(rebuilt)}, ${perSecond(rebuilt)}`;
  const ofOneLiner = (m: Measured): number => m.processorSeconds / oneLiner.processorSeconds;
  report.figure('rebuild, × the one-liner', `${rebuiltText}, ${processor(rebuilt)}`, ofOneLiner(rebuilt), {
    most: 1.6,
  });
  report.figure('rebuild without models, × the one-liner', processor(bare), ofOneLiner(bare), { most: 1.2 });
  const nightText = `${seconds(night)}, ${speed(night)}, ${perSecond(night)}`;
  report.figure('nightly over loopback, × rebuild', nightText, night.seconds / rebuilt.seconds, {
    most: 1.2,
  });
  const ofFirst = (m: Measured): number => m.processorSeconds / night.processorSeconds;
  const nights = { 'with 1 % changed': second, 'with 1 % changed near auctions': nearAuctions };
  for (const [name, measured] of Object.entries(nights))
    report.figure(`a night ${name}, × the first`, processor(measured), ofFirst(measured), { most: 0.4 });
  report.figure('a night without a change, × the first', processor(again), ofFirst(again), { most: 0.3 });
  const share = `${(iceberg.seconds * 1000).toFixed(0)} ms`;
  report.figure('Iceberg metadata, × a night with 1 % changed', share, iceberg.seconds / second.seconds, {
    most: 0.03,
  });
  report.note('incremental of 1 %, × the first', processor(window), ofFirst(window));
  const rss = `${megabytes(night.peakBytes)}, rebuild ${megabytes(rebuilt.peakBytes)}`;
  report.figure('peak memory of nightly, GB', rss, night.peakBytes / 1e9, { most: 1.5 });

  const marts = await measure('marts', data, lake);
  report.figure('marts and data tests, 1 M lots, 3 M prices, s', marts.text ?? '', marts.seconds, {
    most: 15,
  });
  const ofModels = await measure('growth', data, lake);
  const both = `${ofModels.seconds.toFixed(1)} s, ${rebuilt.processorSeconds.toFixed(1)} s`;
  const ofRebuild = ofModels.seconds / rebuilt.processorSeconds;
  report.figure("models and tests, × a rebuild's processor time", both, ofRebuild, { most: 0.2 });
  const few = await measureFew();
  report.figure('models and tests of 6,000 vehicles, s', few.text ?? '', few.seconds, { most: 1.2 });
  const prices = await measure('prices', data, work);
  report.figure('estimates: fit, back-test, 1 M prices, s', megabytes(prices.peakBytes), prices.seconds, {
    most: 15,
  });
  const lakeBytes = bytesBelow(join(lake, 'lake', 'current'));
  const size = `${megabytes(lakeBytes)}, ${megabytes(statSync(oneFile).size)}`;
  report.figure("the lake's files, × the one-liner's", size, lakeBytes / statSync(oneFile).size, { most: 1 });
  await compareStarts(report, { lake, work: join(work, 'starts'), before: process.env.LOTLAKE_BENCH_BEFORE });
  const cold = await coldQuery(lake);
  report.figure('lotlake query, cold, s', `${(cold * 1000).toFixed(0)} ms`, cold, { most: 0.6 });
}

/** Computes the models over a small lake, where their number counts more than their rows. */
async function measureFew(): Promise<Measured> {
  const data = await benchData(cache, { vehicles: 6_000 });
  const lake = join(work, 'few');
  const service = await serve(data);
  await measure('nightly', data, lake, service.url);
  service.close();
  return measure('models', data, lake);
}

/** Sizes between which the time of a model may grow by at most GROWTH × linear. */
const LESS = 50_000;
const MORE = 200_000;
const GROWTH = 1.15;
/** Processor seconds at the larger size from which a growth is more than noise. */
const SHOWN = 0.2;

/** How the processor time of each model and of its data tests grows with the lake. */
async function compareGrowth(report: BenchReport): Promise<void> {
  const times: ModelTimes[] = [];
  for (const size of [LESS, MORE]) {
    const data = await benchData(cache, { vehicles: size });
    const lake = join(work, `growth-${size}`);
    const service = await serve(data);
    await measure('nightly', data, lake, service.url);
    service.close();
    times.push(JSON.parse((await measure('growth', data, lake)).text ?? ''));
    rmSync(lake, { recursive: true });
  }
  const [less = {}, more = {}] = times;
  const growths = growthOf(less, more, MORE / LESS);
  writeBudget(growths, [LESS, MORE]);
  for (const { name, less: before, more: after, share, growth } of growths) {
    const measured = `${before.toFixed(2)} s, ${after.toFixed(2)} s, ${(share * 100).toFixed(1)} % of all`;
    if (after >= SHOWN) report.figure(`${name}, × linear`, measured, growth, { most: GROWTH });
  }
}

/** What a night with 1 % changed costs besides its models, in a lake with the archive of ten years and in one without. */
async function compareYears(report: BenchReport): Promise<void> {
  const data = await benchData(cache, { vehicles });
  const [young, old] = [join(work, 'young'), join(work, 'old')];
  const first = await serve(data);
  await measure('nightly', data, young, first.url);
  first.close();
  cpSync(young, old, { recursive: true, verbatimSymlinks: true });
  await addYears(old, 10);
  const ratios: number[] = [];
  const texts: string[] = [];
  for (let pair = 0; pair < PAIRS; pair++) {
    const [before, after] = [await laterNight(data, young), await laterNight(data, old)];
    ratios.push(after.processorSeconds / before.processorSeconds);
    texts.push(`${before.processorSeconds.toFixed(1)} and ${after.processorSeconds.toFixed(1)} s`);
  }
  const median = ratios.sort((a, b) => a - b)[(PAIRS - 1) / 2] ?? Number.NaN;
  report.figure('a night with 1 % changed, ten years of archive, × without', texts.join(', '), median, {
    most: 1.15,
  });
}

/** Pairs of runs by turns; their number is odd. */
const PAIRS = 3;

/** The night after the first, without its models, on a copy of a lake. */
async function laterNight(data: BenchData, lake: string): Promise<Measured> {
  const copy = `${lake}-later`;
  cpSync(lake, copy, { recursive: true, verbatimSymlinks: true });
  const service = await serve(data, 'changed');
  const night = await measure('nightly-without-models', data, copy, service.url);
  service.close();
  rmSync(copy, { recursive: true });
  return night;
}

/** What shows only at the size of a real lake: compares 500,000 vehicles with 100,000. */
async function compareLarge(report: BenchReport): Promise<void> {
  const less = await benchData(cache, { vehicles: vehicles / 5, plain: true });
  const data = await benchData(cache, { vehicles });
  const lake = join(work, 'lake');
  describe(data);
  const lessService = await serve(less);
  const lessNight = await measure('nightly', less, join(work, 'less'), lessService.url);
  lessService.close();
  rmSync(join(work, 'less'), { recursive: true });
  const service = await serve(data);
  const night = await measure('nightly', data, lake, service.url);
  const growth = night.seconds / lessNight.seconds / 5;
  report.figure('time by size, × linear', `${seconds(lessNight)}, ${seconds(night)}`, growth, { most: 1.05 });
  const window = await measure('incremental', data, lake, service.url);
  report.figure('incremental of 1 %, × the full night', seconds(window), window.seconds / night.seconds, {
    most: 0.2,
  });
  report.figure('peak memory, GB', megabytes(night.peakBytes), night.peakBytes / 1e9, { most: 1.5 });
  const memory = `${megabytes(lessNight.peakBytes)}, ${megabytes(night.peakBytes)}`;
  report.figure('peak memory, × that of 100,000', memory, night.peakBytes / lessNight.peakBytes, {
    most: 1.15,
  });
  rmSync(lake, { recursive: true });
  const paced = await measure('paced', data, lake, service.url);
  service.close();
  report.figure('1 page a second: last byte to published, s', paced.text ?? '', paced.seconds, { most: 30 });
}

/** Removes the lake and all of its landing except the first pass. */
function keepFirstPass(output: string): void {
  rmSync(join(output, 'lake'), { recursive: true });
  const passes = join(output, 'landing', 'cars');
  for (const pass of readdirSync(passes).sort().slice(1)) rmSync(join(passes, pass), { recursive: true });
}

function bytesBelow(folder: string): number {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith('.parquet'))
    .reduce((sum, entry) => sum + statSync(join(entry.parentPath, entry.name)).size, 0);
}

/** Seconds of `lotlake query` with the start of its process; the median of five. */
async function coldQuery(output: string): Promise<number> {
  const times: number[] = [];
  for (let i = 0; i < 5; i++) {
    const start = performance.now();
    await run(process.execPath, [CLI, 'query', 'select count(*) from lots', '--output', output]);
    times.push((performance.now() - start) / 1000);
  }
  return times.sort((a, b) => a - b)[2] ?? 0;
}

function describe(data: BenchData): void {
  const pages = `${data.gzipped.length} pages, ${megabytes(bytesOf(data.gzipped))} gzipped`;
  console.log(`${vehicles.toLocaleString('en')} vehicles on ${pages}`);
}

const bytesOf = (files: readonly string[]): number =>
  files.reduce((sum, file) => sum + statSync(file).size, 0);

rmSync(work, { recursive: true, force: true });
mkdirSync(work, { recursive: true });
console.log(`${cpus().length} × ${cpus()[0]?.model}, ${megabytes(totalmem())}, Node ${process.version}`);
const report = new BenchReport();
if (isLarge) await compareLarge(report);
else if (isOfYears) await compareYears(report);
else {
  await compare(report);
  await compareGrowth(report);
}
console.log(report.toString());
rmSync(work, { recursive: true, force: true });
