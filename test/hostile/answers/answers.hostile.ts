import { spawn } from 'node:child_process';
import { cpSync, existsSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CLI } from '../../cli/support.js';
import { bareDuckDb, temporaryFolder } from '../../pipelines/support.js';
import { readCases } from '../cases.js';
import { archived, FIRST, GONE, LEFT, night, SETTINGS } from './nights.js';
import { type HostileService, ruleSchema, startService } from './service.js';

/**
 * The answers of the service in a second night and their expected outcome. A third night over the healthy service must
 * succeed and archive exactly the vehicles that left.
 */
const schema = z.strictObject({
  what: z.string().describe('What is wrong and what must happen, in a sentence.'),
  totals: z.boolean().default(true).describe('Whether the service gives totals.'),
  rules: z
    .array(ruleSchema)
    .describe('How the service changes its answers; the first rule that fits applies.'),
  config: z.record(z.string(), z.unknown()).default({}).describe('Settings besides those of all cases.'),
  heap: z.number().optional().describe('Heap of the process in MB.'),
  exit: z.number().default(0).describe('Exit code of the second night.'),
  archived: z.array(z.number()).default(GONE).describe('Vehicles that the second night archives.'),
  stderr: z.array(z.string()).default([]).describe('Texts that stderr must hold.'),
  never: z.array(z.string()).default([]).describe('Texts that neither stream may hold.'),
  unproven: z.array(z.string()).optional().describe('Texts that the warnings of the newest run must hold.'),
  requests: z.number().default(60).describe('Highest number of requests for pages of vehicles.'),
  seconds: z.number().default(30).describe('Time limit of the night.'),
});

const FILE = { ...SETTINGS, rate: 10_000, memory: '700MB', threads: 1, timeout: 1, retryBudget: 3 };

const base = temporaryFolder();
let service: HostileService;

beforeAll(async () => {
  service = await startService();
  service.become(FIRST, true, []);
  await night(service.url, join(base.path, 'output'));
});
afterAll(async () => {
  await service.close();
  base.remove();
});

const cases = readCases('answers', schema);

describe(`${cases.length} services`, () => {
  it.each(cases)('$name: $what', async (given) => {
    const here = temporaryFolder();
    try {
      cpSync(base.path, here.path, { recursive: true, verbatimSymlinks: true });
      const output = join(here.path, 'output');
      const current = join(output, 'lake/current');
      const before = readlinkSync(current);
      service.become(LEFT, given.totals, given.rules);
      const hostile = await nightOf(here.path, given);
      const printed = `${hostile.out.slice(0, 1000)}\n${hostile.err.slice(0, 3000)}`;
      expect(hostile.code, printed).toBe(given.exit);
      expect(readlinkSync(current) !== before, 'published').toBe(given.exit === 0);
      expect(service.requested.length, 'requests').toBeLessThanOrEqual(given.requests);
      for (const text of given.stderr) expect(hostile.err).toContain(text);
      for (const text of [...given.never, 'the-secret-key'])
        expect(hostile.out + hostile.err).not.toContain(text);
      expect(hostile.err, 'a stack of calls').not.toMatch(/^\s+at .*:\d+/m);
      expect(existsSync(join(output, 'lotlake.lock')), 'a lock').toBe(false);
      expect(await archived(output), printed).toEqual(given.archived);
      for (const text of given.unproven ?? []) expect(await lastWarnings(output)).toContain(text);

      service.become(LEFT, given.totals, []);
      await night(service.url, output);
      expect(await archived(output), 'after a healthy night').toEqual(GONE);
    } finally {
      here.remove();
    }
  });
});

/** Runs a night in a process of its own. */
async function nightOf(
  folder: string,
  { config, heap, seconds }: z.output<typeof schema>,
): Promise<{ code: number | null; out: string; err: string }> {
  writeFileSync(join(folder, 'lotlake.config.json'), JSON.stringify({ ...FILE, ...config }));
  const limits = heap === undefined ? [] : [`--max-old-space-size=${heap}`];
  const child = spawn(process.execPath, [...limits, CLI, 'run', 'nightly'], {
    cwd: folder,
    env: {
      PATH: process.env.PATH,
      LOTLAKE_BASE_URL: service.url,
      LOTLAKE_ORIGIN: 'test',
      LOTLAKE_API_KEY: 'the-secret-key',
    },
    timeout: seconds * 1000,
    killSignal: 'SIGKILL',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<number | null>((resolve) => child.on('close', resolve));
  const [out, err, code] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { code, out, err };
}

/** What the newest run of the published lake warned of, as one text. */
async function lastWarnings(output: string): Promise<string> {
  const duck = await bareDuckDb();
  const [row] = await duck.query(
    `select array_to_string(warnings, '\n') as text from '${output}/lake/current/runs/*.parquet'
     order by started_at desc limit 1`,
  );
  duck.close();
  return String(row?.text);
}
