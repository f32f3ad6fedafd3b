import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/base/config/package-root.js';
import { CLI, runLotlake } from '../cli/support.js';
import { describeWith, engine } from './support/engines.js';
import { type Nights, startNights } from './support/worlds.js';

const TOOLS = ['changes', 'describe', 'lookup', 'query', 'tables', 'value', 'watch'];

/** What both lines of the SDK give a client. */
interface Client {
  connect(transport: object): Promise<void>;
  getInstructions(): string | undefined;
  listTools(): Promise<{
    readonly tools: readonly { readonly name: string; readonly annotations?: object }[];
  }>;
  listResources(): Promise<{ readonly resources: readonly { readonly uri: string }[] }>;
  readResource(given: {
    readonly uri: string;
  }): Promise<{ readonly contents: readonly { readonly text?: string }[] }>;
  callTool(
    given: object,
    ...options: readonly unknown[]
  ): Promise<{ readonly content: readonly { readonly text: string }[]; readonly isError?: boolean }>;
  close(): Promise<void>;
}

/** Modules of the clients, and where the options of a call stand. */
const SDKS = {
  'SDK, line 2': { index: 'client/dist/index.mjs', stdio: 'client/dist/stdio.mjs', options: 0 },
  'SDK, line 1': { index: 'sdk/dist/esm/client/index.js', stdio: 'sdk/dist/esm/client/stdio.js', options: 1 },
} as const;

describeWith(['agents'], 'an agent', () => {
  let world: Nights;
  const args = (): string[] => [CLI, 'mcp', '--output', world.output];
  beforeAll(async () => {
    world = await startNights({ retryBudget: 900 });
    await world.night();
    await world.night();
  });
  afterAll(() => world.close());

  describe.each(Object.entries(SDKS))('with the %s', (_, { index, stdio, options }) => {
    let client: Client;
    beforeAll(async () => {
      const load = (path: string) => import(engine('agents', 'node_modules', '@modelcontextprotocol', path));
      const [{ Client: Made }, { StdioClientTransport }] = [await load(index), await load(stdio)];
      client = new Made({ name: 'test', version: '1' });
      await client.connect(new StdioClientTransport({ command: process.execPath, args: args() }));
    });
    afterAll(() => client.close());

    const call = (name: string, given: object = {}, signal?: AbortSignal) => {
      const before = Array.from({ length: options });
      return client.callTool(
        { name, arguments: given },
        ...(signal === undefined ? [] : [...before, { signal }]),
      );
    };
    /** The answer of a tool. */
    const asked = async (name: string, given: object = {}) => {
      const { content, isError } = await call(name, given);
      expect(isError ?? false, content[0]?.text).toBe(false);
      return JSON.parse(content[0]?.text ?? '');
    };
    const printed = (...words: readonly string[]) =>
      JSON.parse(runLotlake(world.output, ...words, '--json').out);

    /** Expects `value` and the command to say the same: a small world may have too few prices for an estimate, and both say so. */
    const agree = async (given: object, ...words: readonly string[]): Promise<void> => {
      const text = (await call('value', given)).content[0]?.text ?? '';
      const { code, out, err } = runLotlake(world.output, 'value', ...words, '--json');
      if (code === 0) expect(JSON.parse(text).values).toEqual(JSON.parse(out));
      else expect(text.split('\n')[0]).toBe(JSON.parse(err).error.message);
    };

    it('is told what figures mean, and lists tools that only read', async () => {
      expect(client.getInstructions()).toMatch(/Currency.*Trusted.*Observed.*Interval/s);
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name).sort()).toEqual(TOOLS);
      for (const { annotations } of tools)
        expect(annotations).toMatchObject({ readOnlyHint: true, openWorldHint: false });
    });

    it('gets the answers of the commands to ten questions', async () => {
      const sql =
        'select manufacturer_name, count(*) as vehicles from vehicles group by all order by vehicles desc, 1 limit 5';
      expect(
        (await asked('query', { sql })).rows.map(([name, vehicles]: unknown[]) => ({
          manufacturer_name: name,
          vehicles,
        })),
      ).toEqual(printed('query', sql));
      const [[lot]] = (
        await asked('query', {
          sql: 'select lot_id from price_inputs order by price is null, lot_id limit 1',
        })
      ).rows;
      await agree({ id: String(lot) }, String(lot));
      const [[make, model]] = (
        await asked('query', {
          sql: 'select manufacturer_name, model_name from vehicles group by all order by count(*) desc, 1, 2 limit 1',
        })
      ).rows;
      await agree(
        { make, model, year: 2018, km: 90_000 },
        ...['--make', make, '--model', model, '--year', '2018', '--km', '90000'],
      );
      const [[vin]] = (
        await asked('query', {
          sql: 'select vin from vehicles where vin is not null order by vehicle_id limit 1',
        })
      ).rows;
      expect((await asked('lookup', { kind: 'vin', id: vin })).vehicle.vin).toBe(vin);
      expect((await asked('describe', { table: 'lots' })).columns).toEqual(
        printed('describe', 'lots').columns,
      );
      expect((await asked('tables')).tables.map(({ name }: { name: string }) => name).sort()).toEqual(
        printed('tables')
          .map(({ name }: { name: string }) => name)
          .sort(),
      );
      const [first] = readdirSync(join(world.output, 'lake', 'snapshots')).sort();
      const changes = await asked('changes', { since: first, tables: ['lots'], rows: 5 });
      expect(changes.tables[0]).toMatchObject({
        name: 'lots',
        inserted: printed('changes', 'lots', '--since', String(first)).tables[0].inserted,
      });
      expect(changes.rows.length).toBeGreaterThan(0);
      expect(await asked('watch')).toEqual({ searches: [] });
      const many = await asked('query', { sql: 'select * from lots', rows: 7 });
      expect([many.rows.length, many.has_more]).toEqual([7, true]);
    });

    it('reads the dictionary as resources', async () => {
      const { resources } = await client.listResources();
      expect(resources.length).toBeGreaterThan(80);
      const { contents } = await client.readResource({ uri: 'lotlake://dictionary/lots_on_offer' });
      expect(JSON.parse(contents[0]?.text ?? '').columns.map(({ name }: { name: string }) => name)).toContain(
        'estimate',
      );
    });

    it('can neither write nor read a file, nor reach the network, and learns why', async () => {
      const target = join(world.output, 'written.csv');
      for (const sql of [
        'create table mine as select 1',
        'drop view lots',
        'insert into lots select * from lots',
        `copy (select 1) to '${target}'`,
        "select * from read_text('/etc/passwd')",
        `from '${join(packageRoot, 'package.json')}'`,
        "attach ':memory:' as other",
        'install httpfs',
        "select * from 'https://127.0.0.1:1/x.parquet'",
        'select 1; select 2',
      ]) {
        const { isError, content } = await call('query', { sql });
        expect([sql, isError]).toEqual([sql, true]);
        expect(content[0]?.text.length).toBeGreaterThan(10);
        expect(content[0]?.text).not.toContain('root:');
      }
      expect(existsSync(target)).toBe(false);
      const unknown = await call('describe', { table: 'lot' });
      expect([unknown.isError, unknown.content[0]?.text]).toEqual([
        true,
        expect.stringContaining('did you mean'),
      ]);
    });

    it('cancels a long query, and the server goes on', async () => {
      const stop = new AbortController();
      setTimeout(() => stop.abort(new Error('enough')), 500);
      const endless = 'select count(*) from range(100000000000) a, range(1000) b';
      await expect(call('query', { sql: endless }, stop.signal)).rejects.toThrow();
      const begun = Date.now();
      expect((await asked('query', { sql: 'select 42 as answer' })).rows).toEqual([[42]]);
      expect(Date.now() - begun).toBeLessThan(10_000);
      const large = await call('query', { sql: 'select list(i) from range(400000000) t(i)' });
      expect([large.isError, large.content[0]?.text]).toEqual([true, expect.stringMatching(/[Mm]emory/)]);
      expect((await asked('query', { sql: 'select 42 as answer' })).rows).toEqual([[42]]);
    });
  });

  it('with the SDK for Python gets the same answers', () => {
    const questions = [
      ['query', { sql: 'select count(*) as n from lots' }],
      ['describe', { table: 'sales' }],
      ['query', { sql: 'delete from lots' }],
    ];
    const python = engine('agents', 'python', 'bin', 'python');
    const script = join(packageRoot, 'test', 'engines', 'support', 'agent.py');
    const { stdout, stderr, status } = spawnSync(
      python,
      [script, process.execPath, JSON.stringify(args()), JSON.stringify(questions)],
      { encoding: 'utf8' },
    );
    expect(status, stderr).toBe(0);
    const { tools, answers } = JSON.parse(stdout);
    expect(tools.sort()).toEqual(TOOLS);
    const [{ n }] = JSON.parse(
      runLotlake(world.output, 'query', 'select count(*) as n from lots', '--json').out,
    );
    expect(JSON.parse(answers[0].text).rows).toEqual([[n]]);
    expect(JSON.parse(answers[1].text).name).toBe('sales');
    expect(answers[2].failed).toBe(true);
  });
});
