import { spawn } from 'node:child_process';
import { lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { afterAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { createWorld } from '../../../src/sandbox/index.js';
import { CLI } from '../../cli/support.js';
import { bareDuckDb, lastPage, temporaryFolder } from '../../pipelines/support.js';
import { readCases } from '../cases.js';

/**
 * A service whose answers hold what must not be shown: the key, or codes that act on a terminal. Placeholders in the texts
 * of an answer: `{key}` is the key as JSON writes it, `{slashed}` and `{encoded}` are other forms, and so are `{base64}`, `{basic}` (base64 behind a name),
 * `{hex}`, `{HEX}`, `{escaped}`, `{mixed}` and `{percent}`; `{part}` is its
 * beginning, `{records}` the JSON texts of good records, `{end}` the rest of a page, `{long}` 10 MB. The expectations are
 * the same for every case: the key is in no file, stream or process list; no message holds a part of the key, or a
 * character that acts on a terminal.
 */
const schema = z.strictObject({
  what: z.string().describe('What the service answers, in a sentence.'),
  status: z.number().default(200).describe('Status of its answers to /cars.'),
  headers: z.record(z.string(), z.string()).default({}).describe('Headers of these answers.'),
  body: z.string().describe('Body of these answers.'),
  exit: z.number().describe('Exit code of a nightly run.'),
  says: z.array(z.string()).default([]).describe('Texts that stdout or stderr must hold.'),
  options: z.array(z.string()).default([]).describe('Further options of the run.'),
  log: z.array(z.enum(['--json', '--no-json'])).default(['--no-json', '--json']),
});

const KEY = 'Zk7/qW9+xT2"vB5nM8cR1yH4jL6pD3fGs';
const PART = KEY.slice(0, 14);
const cases = readCases('leaks', schema);
const duckdb = bareDuckDb();
afterAll(async () => (await duckdb).close());

const world = createWorld({ vehicles: 40, seed: 5 });
const good = world.activeIds().map((id) => world.vehicleJson(id, { pricesHistory: true }) ?? '');

/** A text of a case with its placeholders replaced. */
function filled(text: string): string {
  const json = (value: string): string => JSON.stringify(value).slice(1, -1);
  const { data: _, ...rest } = lastPage(good) as { data: unknown };
  return text
    .replaceAll('{end}', () => JSON.stringify(rest).slice(1))
    .replaceAll('{records}', () => good.join(','))
    .replaceAll('{long}', () => 'x'.repeat(1e7))
    .replaceAll('{key}', () => json(KEY))
    .replaceAll('{slashed}', () => json(KEY).replaceAll('/', '\\/'))
    .replaceAll('{encoded}', () => encodeURIComponent(KEY))
    .replaceAll('{base64}', () => Buffer.from(KEY).toString('base64'))
    .replaceAll('{basic}', () => Buffer.from(`me:${KEY}`).toString('base64'))
    .replaceAll('{hex}', () => Buffer.from(KEY).toString('hex'))
    .replaceAll('{HEX}', () => Buffer.from(KEY).toString('hex').toUpperCase())
    .replaceAll('{escaped}', () => KEY.replaceAll(/./g, unicode))
    .replaceAll('{mixed}', () => json(KEY).replaceAll(/[A-Z]/g, unicode))
    .replaceAll('{percent}', () => KEY.replaceAll(/./g, (each) => `%${unicode(each).slice(4).toLowerCase()}`))
    .replaceAll('{part}', () => json(PART));
}

/** A character as an escape of JSON. */
function unicode(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Every form of the whole key. The ends of base64 may hold bits of its neighbours. */
const FORMS = [
  ...['{key}', '{slashed}', '{encoded}', '{hex}', '{HEX}', '{escaped}', '{mixed}', '{percent}'].map(filled),
  ...[KEY, filled('{base64}').slice(0, -4), filled('{basic}').slice(4, -4)],
];
/** Every part of the key that gives it away: eight characters. */
const PARTS = FORMS.flatMap((form) =>
  Array.from({ length: form.length - 7 }, (_, i) => form.slice(i, i + 8)),
);

const ACTING = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/;

const held = (text: string, texts: readonly string[]): string[] =>
  texts.filter((part) => text.includes(part));

/** Command lines of all processes. */
function commandLines(): string {
  const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return ids
    .map((id) => {
      try {
        return readFileSync(`/proc/${id}/cmdline`, 'latin1');
      } catch {
        return '';
      }
    })
    .join('\n');
}

/** The content of a file as searchable text. */
async function contentOf(path: string): Promise<string> {
  const bytes = readFileSync(path);
  const parts = [bytes];
  if (path.endsWith('.gz')) parts.push(gunzipSync(bytes));
  const texts = parts.map((part) => part.toString('utf8'));
  if (path.endsWith('.parquet')) {
    const rows = await (await duckdb).query(`select cast(to_json(t) as varchar) as row from '${path}' t`);
    texts.push(
      ...rows.map(({ row }) => String(row)),
      ...rows.map(({ row }) => plain(JSON.parse(String(row)))),
    );
  }
  return texts.join('\n');
}

/** The texts of a value, without the escapes of JSON. */
const plain = (value: unknown): string =>
  typeof value === 'object' && value !== null ? Object.values(value).map(plain).join('\n') : String(value);

describe(`${cases.length} answers that hold the key or escape codes`, () => {
  const all = cases.flatMap((given) => given.log.map((log) => ({ ...given, log })));
  it.each(all)('$name, $log: $what', async (given) => {
    const folder = temporaryFolder();
    const processes: string[] = [];
    const server = createServer((request, response) => {
      const url = new URL(request.url ?? '/', 'http://127.0.0.1');
      if (processes.length === 0) processes.push(commandLines());
      if (url.pathname !== '/api/cars') return void response.writeHead(404).end('{"message":"not here"}');
      const page = Number(url.searchParams.get('page') ?? 1);
      // A request for the totals alone, which lands nothing.
      const isProbe = url.searchParams.get('per_page') === '1';
      response.writeHead(
        given.status,
        Object.fromEntries(Object.entries(given.headers).map(([name, text]) => [name, filled(text)])),
      );
      const body = Buffer.from(
        given.status === 200 && (page > 1 || isProbe) ? JSON.stringify(lastPage([])) : filled(given.body),
      );
      // Two chunks, which cut the key in two.
      const cut = Math.max(0, body.indexOf(KEY.slice(0, 4)) + 5);
      response.write(body.subarray(0, cut));
      setTimeout(() => response.end(body.subarray(cut)), 20);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    try {
      const { port } = server.address() as AddressInfo;
      writeFileSync(
        join(folder.path, 'lotlake.config.json'),
        JSON.stringify({ retryBudget: 0.2, rate: 1000 }),
      );
      const run = spawn(process.execPath, [CLI, 'run', 'nightly', given.log, ...given.options], {
        cwd: folder.path,
        env: {
          ...process.env,
          LOTLAKE_BASE_URL: `http://127.0.0.1:${port}/api`,
          LOTLAKE_API_KEY: KEY,
          LOTLAKE_MEMORY: '700MB',
          LOTLAKE_LOG: 'debug',
        },
      });
      let printed = '';
      for (const stream of [run.stdout, run.stderr])
        stream.setEncoding('utf8').on('data', (text) => {
          printed += text;
        });
      const code = await new Promise((resolve) => run.on('close', resolve));
      expect(code, printed).toBe(given.exit);
      for (const text of given.says) expect(printed).toContain(text);
      expect(held(printed, PARTS), 'streams').toEqual([]);
      expect(printed, 'characters that act on a terminal').not.toMatch(ACTING);
      expect(printed.length).toBeLessThan(200_000);
      expect(held(processes.join(), FORMS), 'processes').toEqual([]);
      const output = join(folder.path, 'output');
      const files = readdirSync(output, { recursive: true, encoding: 'utf8' })
        .map((name) => join(output, name))
        .filter((path) => lstatSync(path).isFile());
      expect(files.length).toBeGreaterThan(0);
      for (const path of files) {
        const isOfRecords = !/(runs|passes|failed-runs|pass\.json|ledger)/.test(path);
        expect(held(await contentOf(path), isOfRecords ? FORMS : PARTS), path).toEqual([]);
      }
    } finally {
      server.closeAllConnections();
      server.close();
      folder.remove();
    }
  });
});
