import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import Table from 'cli-table3';
import { defaultMemory, formatBytes, MEMORY } from '../../src/base/config/memory.js';
import { own } from '../../src/base/config/owned.js';
import { packageRoot } from '../../src/base/config/package-root.js';
import { type CommandFacts, runCommand } from './command.js';
import { type BenchData, type BenchWorld, benchData } from './data.js';
import { growthOf, type ModelTimes, modelTimes, writeBudget } from './growth.js';
import { compareLakes } from './same-lake.js';
import { serve } from './service.js';

const given = process.argv.slice(2);
/** The size of the real service (service.md#limits). Choose another size to try the bench itself. */
const REAL = Number(given.find((argument) => /^\d+$/.test(argument)) ?? 1_800_000);
/** A smaller size; from it to the real size, time should grow at most linearly. */
const LESS = Math.round(REAL / 3.6);
/** The smaller size of the growth of each model. */
const FEW = Math.round(REAL / 18);
/** Vehicles of a world with only source 12, whose records have 34 KB each. */
const OF_SOURCE_12 = Math.round(REAL / 9);
/** Most pages a second that the service sends. */
const PACE = 10;

const cache = join(packageRoot, '.bench');
const folder = join(cache, `real-${REAL}`);
const HOUR = 3_600_000;
const START = Date.parse('2026-11-20T02:00:00Z');

const least = `${MEMORY.least / 1e6}MB`;
/** The least memory comes first, because a failure is most likely there. */
const limits = { least, default: defaultMemory() } as const;
type Limit = keyof typeof limits;
const order: readonly Limit[] = ['least', 'default'];

/** One measured command. Steps of one limit work on the same lake, one after the other. */
interface Step {
  readonly name: string;
  readonly args: readonly string[];
  /** Hours since the first night, by the clock of the command. */
  readonly at: number;
  readonly night?: 'gzipped' | 'changed';
  /** Whether the step works on a copy of the lake, which is removed afterwards. */
  readonly onCopy?: boolean;
}

/** Stands in a step for the id of the first vehicle of the feed. */
const VEHICLE = '{vehicle}';

const nightly = ['run', 'nightly'];
const steps: readonly Step[] = [
  { name: 'first night', args: nightly, at: 0, night: 'gzipped' },
  { name: 'incremental of 1 %', args: ['run', 'incremental'], at: 6, night: 'gzipped', onCopy: true },
  { name: 'night with 1 % changed', args: nightly, at: 24, night: 'changed' },
  { name: 'verify', args: ['verify'], at: 25 },
  { name: 'vacuum of the first night', args: ['vacuum'], at: 25 },
  { name: 'rebuild, carrying over the first night', args: ['run', 'rebuild'], at: 26 },
  { name: 'night without a change', args: nightly, at: 48, night: 'changed' },
  { name: 'report', args: ['report'], at: 49 },
  { name: 'pages as files', args: ['explore', '--export', 'pages'], at: 49 },
  { name: 'export of lots', args: ['export', 'lots', '--to', 'lots'], at: 49 },
  { name: 'cold query', args: ['query', 'select count(*) from lots where archived'], at: 49 },
  {
    name: 'cold query of a mart',
    args: ['query', 'select trust_reason, count(*) from sales group by all'],
    at: 49,
  },
  {
    name: 'cold timeline of a vehicle',
    args: ['query', `select * from vehicle_timeline where vehicle_id = ${VEHICLE}`],
    at: 49,
  },
];

/** A part of the bench. Each part can run by itself, and continues where it stopped. */
type Part = Limit | 'growth' | 'source-12' | 'models' | 'compare';
const parts: readonly Part[] = [...order, 'growth', 'source-12', 'models', 'compare'];
const chosen = parts.filter((part) => given.includes(part));

type Results = Readonly<Record<string, CommandFacts>>;

const resultsFile = (part: Part): string => join(folder, `${part}.json`);

/** Figures of the steps of a part, by name. */
function resultsOf(part: Part): Results {
  return existsSync(resultsFile(part)) ? JSON.parse(readFileSync(resultsFile(part), 'utf8')) : {};
}

/** Runs a step unless an earlier call has run it. */
async function measure(part: Part, name: string, work: () => Promise<CommandFacts>): Promise<void> {
  const done = resultsOf(part);
  if (done[name] !== undefined) return;
  const facts = await work();
  writeFileSync(resultsFile(part), JSON.stringify({ ...done, [name]: facts }, null, 2));
  console.error([`${part}: ${name}: ${timesOf(facts)}`, ...facts.warnings].join('\n  '));
}

async function runStep(step: Step, limit: Limit, data: BenchData): Promise<CommandFacts> {
  const place = join(folder, limit);
  if (step === steps[0]) rmSync(place, { recursive: true, force: true });
  mkdirSync(place, { recursive: true });
  writeFileSync(
    join(place, 'lotlake.config.json'),
    JSON.stringify({ keepSnapshots: 1, keepDays: 0, keepPasses: 1 }),
  );
  const output = join(place, step.onCopy === true ? 'copy' : 'lake');
  if (step.onCopy === true) execFileSync('cp', ['-al', join(place, 'lake'), output]);
  rmSync(join(place, 'lots'), { recursive: true, force: true });
  try {
    const args = step.args.map((argument) => argument.replace(VEHICLE, firstVehicle(data)));
    return await served(args, {
      data,
      night: step.night,
      output,
      cwd: place,
      memory: limits[limit],
      at: step.at,
    });
  } finally {
    if (step.onCopy === true) rmSync(output, { recursive: true });
  }
}

/** The id of the first vehicle of the feed. */
function firstVehicle({ gzipped }: BenchData): string {
  const [page = ''] = gzipped;
  return String(JSON.parse(gunzipSync(readFileSync(page)).toString()).data[0].id);
}

async function served(
  args: readonly string[],
  given: {
    readonly data: BenchData;
    readonly night: Step['night'];
    readonly output: string;
    readonly cwd: string;
    readonly memory: string;
    readonly at: number;
  },
): Promise<CommandFacts> {
  const { data, night, output, cwd, at } = given;
  const now = new Date(START + at * HOUR);
  const service = night === undefined ? undefined : await serve(data, night, now);
  const env = {
    ...(service === undefined ? {} : { LOTLAKE_BASE_URL: service.url, LOTLAKE_ORIGIN: 'bench' }),
    LOTLAKE_API_KEY: 'bench',
    LOTLAKE_RATE: String(PACE),
    // lotlake itself chooses the default.
    LOTLAKE_MEMORY: given.memory === limits.default ? '' : given.memory,
    LOTLAKE_BENCH_CLOCK: now.toISOString(),
  };
  try {
    return await runCommand(args, { output, cwd, env });
  } finally {
    service?.close();
  }
}

/** A first night of another world, whose lake is not kept. */
function otherNight(part: Part, name: string, world: BenchWorld, memory: string): Promise<void> {
  return measure(part, name, async () => {
    const cwd = join(folder, part);
    rmSync(cwd, { recursive: true, force: true });
    mkdirSync(cwd, { recursive: true });
    const data = await benchData(cache, world);
    const output = join(cwd, 'lake');
    try {
      return await served(nightly, { data, night: 'gzipped', output, cwd, memory, at: 0 });
    } finally {
      rmSync(cwd, { recursive: true });
    }
  });
}

const seconds = (value: number): string =>
  value < 60 ? `${value.toFixed(1)} s` : `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
const timesOf = (facts: CommandFacts): string =>
  `${seconds(facts.seconds)} (${seconds(facts.processor_seconds)} of processor time), peak ${formatBytes(facts.peak_bytes)}, spilled ${formatBytes(facts.spilled_bytes)}, disk ${formatBytes(facts.disk_bytes)}`;

/** The phases at the end of a night, from the last page of `/cars` to the end of the process. */
function partsOf({ steps: begun, seconds: whole }: CommandFacts): string {
  const at = (name: string): number => begun.find(([step]) => step.startsWith(name))?.[1] ?? Number.NaN;
  const part = (from: number, to: number): string => seconds(to - from);
  const last = at('extract archived');
  return (
    `${part(last, whole)} from the last page of /cars to the end: ${part(last, at('reconcile'))} last batches and small lists, ` +
    `${part(at('reconcile'), at('model'))} merge, ${part(at('model'), at('publish'))} marts and tests, ${part(at('publish'), whole)} publish and report`
  );
}

const nights = {
  growth: `first night of ${LESS.toLocaleString('en')}, default`,
  'source-12': `first night of ${OF_SOURCE_12.toLocaleString('en')} of source 12, ${least}`,
} as const;

async function run(part: Part): Promise<void> {
  if (part === 'growth') return otherNight(part, nights[part], { vehicles: LESS }, limits.default);
  if (part === 'source-12')
    return otherNight(part, nights[part], { vehicles: OF_SOURCE_12, source: 12 }, least);
  if (part === 'models') return compareModels();
  if (part === 'compare') return compare();
  const data = await benchData(cache, { vehicles: REAL });
  for (const step of steps) await measure(part, step.name, () => runStep(step, part, data));
}

/** How the processor time of each model and its tests grows from a smaller lake to the one of the default. */
async function compareModels(): Promise<void> {
  const cwd = join(folder, 'models');
  rmSync(cwd, { recursive: true, force: true });
  mkdirSync(cwd, { recursive: true });
  const data = await benchData(cache, { vehicles: FEW });
  const few = join(cwd, 'lake');
  await served(nightly, { data, night: 'gzipped', output: few, cwd, memory: limits.default, at: 0 });
  const lakes = [few, join(folder, 'default', 'lake')];
  for (const lake of lakes) own(lake);
  const times: ModelTimes[] = [];
  for (const lake of lakes) times.push(await modelTimes(lake));
  const [less = {}, more = {}] = times;
  writeBudget(growthOf(less, more, REAL / FEW), [FEW, REAL]);
  rmSync(cwd, { recursive: true });
}

async function compare(): Promise<void> {
  const [a, b] = order.map((limit) => join(folder, limit, 'lake'));
  const { compared, differing } = await compareLakes(a ?? '', b ?? '');
  const found = differing.length === 0 ? 'all equal' : `different: ${differing.join(', ')}`;
  console.log(`the lakes of both limits: ${compared} tables and marts compared, ${found}`);
  if (differing.length > 0) process.exitCode = 1;
}

/** Prints the figures of this call and earlier ones. */
function printTable(): void {
  const head = ['step', ...order.map((limit) => `${limit} (${limits[limit]})`)];
  const grid = new Table({ head, style: { head: [], border: [] } });
  const cell = (facts: CommandFacts | undefined): string => (facts === undefined ? '' : timesOf(facts));
  for (const { name } of steps) grid.push([name, ...order.map((limit) => cell(resultsOf(limit)[name]))]);
  console.log(grid.toString());
  for (const limit of order) {
    const night = resultsOf(limit)['first night'];
    if (night !== undefined) console.log(`${limit}: ${partsOf(night)}`);
  }
  for (const part of ['growth', 'source-12'] as const) {
    const facts = resultsOf(part)[nights[part]];
    if (facts !== undefined) console.log(`${nights[part]}: ${timesOf(facts)}`);
  }
  const [whole, less] = [resultsOf('default')['first night'], resultsOf('growth')[nights.growth]];
  if (whole !== undefined && less !== undefined) {
    const growth = (of: (facts: CommandFacts) => number): string =>
      (of(whole) / of(less) / (REAL / LESS)).toFixed(2);
    console.log(
      `from ${LESS} to ${REAL}: time × ${growth((facts) => facts.seconds)}, processor time × ${growth((facts) => facts.processor_seconds)} of linear`,
    );
  }
}

mkdirSync(folder, { recursive: true });
console.log(`${cpus().length} × ${cpus()[0]?.model}, ${formatBytes(totalmem())}, Node ${process.version}`);
for (const part of chosen.length > 0 ? chosen : parts) await run(part);
printTable();
