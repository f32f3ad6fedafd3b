import { spawn } from 'node:child_process';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { packageRoot } from '../../src/base/config/package-root.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import {
  bareDuckDb,
  configFor,
  silentReporter,
  temporaryFolder,
  WITHOUT_CATALOG,
} from '../pipelines/support.js';
import { need } from '../served.js';
import { CLI, runLotlake } from './support.js';

const folder = temporaryFolder();
const costs = join(folder.path, 'costs');
let sandbox: Sandbox;
let lots: Readonly<Record<string, unknown>>[];

const settings = () =>
  configFor(sandbox.url, folder.path, { apiKey: sandbox.apiKey, costs, minimumGroup: 2 });

beforeAll(async () => {
  sandbox = await startSandbox({ vehicles: 1_500, faults: WITHOUT_CATALOG });
  expect(runLotlake(folder.path, 'init', '--costs').out).toContain('All figures are made up');
  await nightly({ config: settings(), reporter: silentReporter(), now: () => sandbox.clock });
  // The commands find the folder beside the file of settings.
  writeFileSync(join(folder.path, 'lotlake.config.json'), '{}');
  const duck = await bareDuckDb();
  await duck.query(
    `attach '${join(folder.path, 'lake', 'current', 'warehouse.duckdb')}' as warehouse (read_only)`,
  );
  lots = await duck.query(
    `select landed.*, offers.estimate from warehouse.landed_costs as landed join warehouse.lots_on_offer as offers using (lot_id)
     where landed.cost_estimate is not null order by landed.lot_id, landed.destination`,
  );
  duck.close();
}, 120_000);
afterAll(async () => {
  await sandbox.close();
  folder.remove();
});

describe('lotlake init --costs', () => {
  it('writes each table once, and replaces them only if it is told to', () => {
    expect(readdirSync(costs).sort()).toEqual(readdirSync(join(packageRoot, 'site', 'costs')).sort());
    const again = runLotlake(folder.path, 'init', '--costs');
    expect(again.code).toBe(2);
    expect(again.err).toContain('all tables stay as they are');
    const path = join(costs, 'charges.csv');
    const before = readFileSync(path, 'utf8');
    writeFileSync(path, `${before}\n`);
    expect(runLotlake(folder.path, 'init', '--costs', '--force').code).toBe(0);
    expect(readFileSync(path, 'utf8')).toBe(before);
  });

  it('marks each row as an example with its day', () => {
    for (const file of readdirSync(costs)) {
      const [, ...rows] = readFileSync(join(costs, file), 'utf8').trim().split('\n');
      for (const row of rows) expect(row).toContain('an example of 2026-11-30, made up');
    }
  });
});

/** What `lotlake value` says of a lot in JSON. */
function landedOf(...args: readonly string[]): Readonly<Record<string, unknown>> {
  const { code, out, err } = runLotlake(folder.path, 'value', ...args, '--json');
  expect(err).toBe('');
  expect(code).toBe(0);
  const [first] = JSON.parse(out) as { readonly landed: Record<string, unknown> }[];
  return need(first, 'a value').landed;
}

describe('lotlake value --to', () => {
  it('says what landed_costs has, part by part, with the rows of the tables', () => {
    for (const to of ['warsaw', 'busan', 'dallas']) {
      const lot = need(
        lots.find((row) => row.destination === to),
        to,
      );
      const landed = landedOf(String(lot.lot_id), '--to', to.toUpperCase());
      const totals = landed.totals as { at: string; total: number }[];
      expect(totals[0]?.total).toBe(lot.cost);
      expect(totals).toContainEqual({ at: 'estimate', price: lot.estimate, total: lot.cost_estimate });
      expect(landed.most_to_bid).toBe(lot.most_to_bid);
      const parts = landed.parts as { part: string; converted: number; row: string | null }[];
      for (const part of ['price', 'fees', 'charges', 'inland', 'ocean', 'taxes'])
        expect(
          parts.filter((each) => each.part === part).reduce((sum, { converted }) => sum + converted, 0),
          `${to} ${part}`,
        ).toBeCloseTo(Number(lot[part]), 6);
      for (const { row } of parts.slice(1)) {
        const [file = '', line] = need(row, 'a row').split(':');
        const text = readFileSync(join(costs, file), 'utf8').split('\n')[Number(line) - 1];
        expect(text).toContain('made up');
      }
    }
  });

  it('computes a price of your own, and a car that is no lot', () => {
    const lot = need(lots[0], 'a lot');
    const { totals } = landedOf(String(lot.lot_id), '--to', String(lot.destination), '--bid', '1234.56');
    expect(totals).toEqual(
      expect.arrayContaining([expect.objectContaining({ at: 'given', price: 1234.56 })]),
    );
    const car = ['--make', 'Toyota', '--model', 'Camry', '--year', '2019', '--to', 'dallas'];
    expect(landedOf(...car, '--source', 'copart_com', '--state', 'TX').missing).toEqual([]);
    expect(landedOf(...car).missing).toContain('buyer_fees: the source is not known');
  });

  it('ends with a clear error for a destination that there is not', () => {
    const { code, err } = runLotlake(folder.path, 'value', String(lots[0]?.lot_id), '--to', 'warzaw');
    expect(code).not.toBe(0);
    expect(err).toContain('did you mean warsaw?');
    expect(err).toContain('destinations: warsaw, busan, dallas');
  });

  it('says that the tables have changed since the last run', () => {
    const path = join(costs, 'charges.csv');
    const before = readFileSync(path, 'utf8');
    const about = [String(lots[0]?.lot_id), '--to', 'warsaw'];
    expect(landedOf(...about).changed).toBeNull();
    writeFileSync(path, before.replace(',90,USD', ',95,USD'));
    expect(landedOf(...about).changed).toContain('have changed since the last run');
    writeFileSync(path, before.replace(',90,USD', ',-95,USD'));
    expect(landedOf(...about).changed).toContain('cannot be used now');
    writeFileSync(path, before);
  });
});

it('an agent gets the same by its tool', async () => {
  const lot = need(lots[0], 'a lot');
  const server = spawn(process.execPath, [CLI, 'mcp', '--output', folder.path], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = createInterface(server.stdout)[Symbol.asyncIterator]();
  const send = (message: object) => server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  send({ id: 1, method: 'initialize', params });
  await lines.next();
  send({ method: 'notifications/initialized' });
  const given = { id: String(lot.lot_id), to: lot.destination };
  send({ id: 2, method: 'tools/call', params: { name: 'value', arguments: given } });
  const { value } = await lines.next();
  const { content } = (JSON.parse(value) as { result: { content: [{ text: string }] } }).result;
  const { values } = JSON.parse(content[0].text) as { values: [{ landed: { totals: [{ total: number }] } }] };
  expect(values[0].landed.totals[0].total).toBe(lot.cost);
  const ended = new Promise((resolve) => server.once('exit', resolve));
  server.stdin.end();
  expect(await ended).toBe(0);
});

describe('lotlake model', () => {
  it('computes with the tables of the snapshot, whose rows it keeps', () => {
    const to = join(folder.path, 'computed');
    const args = ['model', '--select', 'cost_rows landed_costs', '--to', to, '--json'];
    const { out, err } = runLotlake(folder.path, ...args);
    expect(err).toBe('');
    const { models } = JSON.parse(out) as { models: { name: string; rows: number }[] };
    expect(models.map(({ name }) => name)).toEqual(['landed_costs']);
    expect(models[0]?.rows).toBeGreaterThanOrEqual(lots.length);
  });
});

describe('a night', () => {
  it('with a table that cannot be used ends before it asks the service for anything', async () => {
    const other = temporaryFolder();
    cpSync(costs, join(other.path, 'costs'), { recursive: true });
    writeFileSync(join(other.path, 'costs', 'charges.csv'), 'charge,amount\ngate,90\n');
    const config = configFor(sandbox.url, other.path, {
      apiKey: sandbox.apiKey,
      costs: join(other.path, 'costs'),
    });
    await expect(
      nightly({ config, reporter: silentReporter(), now: () => sandbox.clock }),
    ).rejects.toMatchObject({
      code: 'CONFIG_INVALID',
      message: expect.stringContaining('line 1 of '),
    });
    expect(existsSync(join(other.path, 'lake', 'current'))).toBe(false);
    expect(existsSync(join(other.path, 'landing', 'cars'))).toBe(false);
    other.remove();
  });
});
