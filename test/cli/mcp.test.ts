import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type HandMade, handMadeLake, LOTS, SNAPSHOT } from '../query/support.js';
import { CLI } from './support.js';

/** An answer of the server: a result or an error. */
interface Answer {
  readonly id: number;
  readonly result?: Record<string, unknown>;
  readonly error?: { readonly message: string };
}

let lake: HandMade;
let server: ChildProcessByStdio<Writable, Readable, null>;
const answers = new Map<number, (answer: Answer) => void>();
let last = 0;

const send = (message: object): void =>
  void server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
const request = (method: string, params: object = {}): Promise<Answer> => {
  const id = ++last;
  return new Promise((resolve) => {
    answers.set(id, resolve);
    send({ id, method, params });
  });
};
/** The text of a tool's answer, and whether it is an error. */
const call = async (name: string, given: object = {}): Promise<readonly [text: string, isError: boolean]> => {
  const { result = {} } = await request('tools/call', { name, arguments: given });
  const [{ text }] = result.content as [{ readonly text: string }];
  return [text, result.isError === true];
};

beforeAll(async () => {
  lake = await handMadeLake({ lots: LOTS });
  server = spawn(process.execPath, [CLI, 'mcp', '--output', lake.config.output], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // Whatever else it wrote there would break the protocol.
  createInterface(server.stdout).on('line', (line) => {
    const answer: Answer = JSON.parse(line);
    answers.get(answer.id)?.(answer);
  });
  const { result } = await request('initialize', {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  });
  expect(result?.instructions).toMatch(/Currency.*Trusted.*Observed.*Interval/s);
  send({ method: 'notifications/initialized' });
});
afterAll(async () => {
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.stdin.end();
  expect(await ended).toBe(0);
  lake.remove();
});

describe('lotlake mcp', () => {
  it('lists tools that only read, and answers a query with the snapshot that it asked', async () => {
    const { result } = await request('tools/list');
    const tools = result?.tools as { readonly name: string; readonly annotations: object }[];
    expect(tools.map(({ name }) => name).sort()).toEqual([
      'changes',
      'describe',
      'lookup',
      'query',
      'tables',
      'value',
      'watch',
    ]);
    for (const { annotations } of tools)
      expect(annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false });
    const [text, isError] = await call('query', { sql: 'select count(*) as n from lots' });
    expect([JSON.parse(text), isError]).toEqual([
      {
        snapshot: SNAPSHOT,
        columns: [{ name: 'n', type: 'BIGINT' }],
        rows: [[expect.any(Number)]],
        has_more: false,
      },
      false,
    ]);
  });

  it('cuts a long result and says so, and refuses one row that is too long', async () => {
    const [rows] = await call('query', { sql: 'from range(500)', rows: 7 });
    expect(JSON.parse(rows)).toMatchObject({ rows: [[0], [1], [2], [3], [4], [5], [6]], has_more: true });
    const [wide] = await call('query', { sql: "select repeat('x', 1000) from range(1000)", rows: 1000 });
    expect(JSON.parse(wide)).toMatchObject({ has_more: true });
    expect(wide.length).toBeLessThan(200_000);
    expect(await call('query', { sql: "select repeat('x', 300000)" })).toEqual([
      expect.stringContaining('200000 fit'),
      true,
    ]);
  });

  it('neither writes nor reads a file', async () => {
    const target = join(lake.folder, 'written.csv');
    for (const sql of [
      `copy (select 1) to '${target}'`,
      'create table mine as select 1',
      "select * from read_text('/etc/passwd')",
      "attach ':memory:' as other",
      'select 1; select 2',
    ])
      expect([sql, ...(await call('query', { sql }))]).toEqual([
        sql,
        expect.not.stringContaining('root:'),
        true,
      ]);
    expect(existsSync(target)).toBe(false);
    expect(await call('describe', { table: 'lot' })).toEqual([
      expect.stringContaining('did you mean lots'),
      true,
    ]);
  });

  it('ends a cancelled query and goes on', async () => {
    // As many as may run at once, so that the next call waits for their end.
    const endless = { sql: 'select count(*) from range(100000000000) a, range(1000) b' };
    const cancelled = [0, 1].map(() => {
      void request('tools/call', { name: 'query', arguments: endless });
      return last;
    });
    await new Promise((resolve) => setTimeout(resolve, 500));
    for (const requestId of cancelled) send({ method: 'notifications/cancelled', params: { requestId } });
    const begun = performance.now();
    const [text] = await call('query', { sql: 'select 42' });
    expect(JSON.parse(text).rows).toEqual([[42]]);
    expect(performance.now() - begun).toBeLessThan(20_000);
  });
});
