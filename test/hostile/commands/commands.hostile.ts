import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { CLI } from '../../cli/support.js';
import { temporaryFolder } from '../../pipelines/support.js';
import { readCases } from '../cases.js';

/**
 * A command and its expected outcome. Placeholders in every text: `{lake}` is the output folder of a small published lake,
 * `{snapshot}` its snapshot, `{file}` a data file of its table lots, and `{here}` the empty folder in which the command
 * runs.
 */
const schema = z.strictObject({
  what: z.string().describe('What is wrong and what must happen, in a sentence.'),
  args: z.array(z.string()).optional().describe('Arguments of lotlake.'),
  shell: z.string().optional().describe('A bash line instead of arguments; {lotlake} starts the command.'),
  env: z
    .record(z.string(), z.string())
    .default({})
    .describe('Environment; LOTLAKE_OUTPUT is {lake} by default.'),
  files: z
    .record(z.string(), z.string())
    .default({})
    .describe('Files in {here} before the command, by name.'),
  stdin: z.string().default('').describe('Standard input.'),
  exit: z.number().describe('Exit code.'),
  stdout: z.array(z.string()).default([]).describe('Texts that stdout must hold.'),
  stderr: z.array(z.string()).default([]).describe('Texts that stderr must hold, such as the error code.'),
  never: z.array(z.string()).default([]).describe('Texts that neither may hold.'),
  makes: z
    .array(z.string())
    .default([])
    .describe('Names in {here} afterwards, besides the files of the case.'),
  seconds: z.number().default(30).describe('Time limit of the command.'),
});

const lake = temporaryFolder();
const output = join(lake.path, 'output');
let before: ReadonlyMap<string, string>;

beforeAll(() => {
  const args = ['run', 'nightly', '--sandbox', '--vehicles', '60', '--clock', '2026-11-20T00:00:00Z'];
  const env = { ...process.env, LOTLAKE_OUTPUT: output, LOTLAKE_MEMORY: '700MB' };
  const run = spawnSync(process.execPath, [CLI, ...args], { cwd: lake.path, env });
  expect(run.status, run.stderr.toString()).toBe(0);
  before = content(output);
}, 60_000);
afterAll(() => lake.remove());

const cases = readCases('commands', schema);

describe(`${cases.length} commands`, () => {
  it.each(cases)('$name: $what', (given) => {
    const here = temporaryFolder();
    try {
      const filled = filler(here.path);
      for (const [name, text] of Object.entries(given.files)) {
        mkdirSync(dirname(join(here.path, name)), { recursive: true });
        writeFileSync(join(here.path, name), filled(text));
      }
      const ended = spawnSync(
        ...(given.shell === undefined
          ? ([process.execPath, [CLI, ...(given.args ?? []).map(filled)]] as const)
          : (['bash', ['-c', filled(given.shell)]] as const)),
        {
          cwd: here.path,
          env: {
            ...clean(process.env),
            LOTLAKE_OUTPUT: output,
            ...Object.fromEntries(Object.entries(given.env).map(([name, value]) => [name, filled(value)])),
          },
          input: filled(given.stdin),
          timeout: given.seconds * 1000,
          killSignal: 'SIGKILL',
          maxBuffer: 1 << 28,
        },
      );
      const [out, err] = [ended.stdout.toString(), ended.stderr.toString()];
      const printed = `stdout: ${out.slice(0, 2000)}\nstderr: ${err.slice(0, 2000)}`;
      expect(ended.status, printed).toBe(given.exit);
      for (const text of given.stdout) expect(out).toContain(filled(text));
      for (const text of given.stderr) expect(err).toContain(filled(text));
      for (const text of given.never) expect(out + err).not.toContain(filled(text));
      expect(err, 'a stack of calls').not.toMatch(/^\s+at .*:\d+/m);
      expect(err, 'control characters').not.toMatch(CONTROL);
      expect([...content(output)], 'the lake').toEqual([...before]);
      const made = readdirSync(here.path).filter((name) => !(name in given.files));
      expect(made.sort()).toEqual([...given.makes].sort());
    } finally {
      here.remove();
    }
  });
});

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/;

/** Puts the places of a case into a text. */
function filler(here: string): (text: string) => string {
  const snapshot = join(output, 'lake', readlinkSync(join(output, 'lake', 'current')));
  const lots = join(snapshot, 'lots');
  const file = join(lots, filesBelow(lots)[0] ?? '');
  const places = { lake: output, snapshot, file, here, lotlake: `'${process.execPath}' '${CLI}'` };
  return (text) =>
    Object.entries(places).reduce((filled, [name, place]) => filled.replaceAll(`{${name}}`, place), text);
}

/** Every file below a folder by the checksum of its content, links by their target. */
function content(folder: string): ReadonlyMap<string, string> {
  return new Map(
    filesBelow(folder).map((name) => {
      const path = join(folder, name);
      if (lstatSync(path).isSymbolicLink()) return [name, readlinkSync(path)];
      return [name, createHash('sha256').update(readFileSync(path)).digest('hex')];
    }),
  );
}

/** Files and links below a folder, in order. */
function filesBelow(folder: string): string[] {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return names.filter((name) => !lstatSync(join(folder, name)).isDirectory()).sort();
}

/** The environment without settings of lotlake. */
function clean(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !name.startsWith('LOTLAKE_')));
}
