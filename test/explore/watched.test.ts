import { cpSync, mkdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { nightly } from '../../pipelines/nightly.js';
import { readLake } from '../../src/ask/query/open-lake.js';
import { matchText, readWatched } from '../../src/ask/query/watched.js';
import { rows } from '../../src/base/duck/session.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { configFor, serve, silentReporter, temporaryFolder, WITHOUT_CATALOG } from '../pipelines/support.js';
import { reportOf } from '../report/lake.js';
import { openExplore } from './server.js';

const folder = temporaryFolder();
const models = join(folder.path, 'models');
const output = join(folder.path, 'output');
const notices: { text: string; watched: { name: string; entered: number; left: number }[] }[] = [];
let hook: Awaited<ReturnType<typeof serve>>;

const config = () => configFor('http://127.0.0.1:9/api', output, { models });

/** A night of the sandbox with the searches of the folder, and a webhook. */
async function night(day: number): Promise<void> {
  const clock = new Date(`2026-11-${day}T04:00:00Z`);
  const sandbox = await startSandbox({ vehicles: 800, clock, faults: WITHOUT_CATALOG });
  const more = {
    apiKey: sandbox.apiKey,
    models,
    notify: { url: `${hook.url.replace('/api', '')}/hook`, on: ['watch' as const] },
  };
  await nightly({
    config: configFor(sandbox.url, output, more),
    reporter: silentReporter(),
    now: () => clock,
  });
  await sandbox.close();
}

/** Lots that a snapshot shows for a search, found without it. */
const found = async (where: string, snapshot?: string): Promise<number[]> => {
  const read = await readLake(config(), { choice: { snapshot } }, ({ session }) =>
    rows(
      session.connection,
      `select lot_id from price_estimates join sell_through_odds using (lot_id) where is_offered and ${where} order by all`,
    ),
  );
  return read.map(({ lot_id }) => Number(lot_id));
};

const WITHIN =
  'sale_date <= (select as_of from dim_settings) + interval 5 day and estimate >= 3000 and is_currency_known';

beforeAll(async () => {
  mkdirSync(models);
  hook = await serve((_, request) => {
    let body = '';
    request.on('data', (piece: Buffer) => {
      body += piece.toString();
    });
    request.on('end', () => notices.push(JSON.parse(body)));
    return { body: {} };
  });
  await night(20);
  const explore = await openExplore(output, { models });
  await explore.send('/searches', { name: 'soon', search: 'days=5&estimate_from=3000' });
  expect(await explore.text('/searches')).toContain('The next night computes it.');
  await explore.close();
  await night(21);
});
afterAll(async () => {
  await hook.close();
  folder.remove();
});

it('a saved search is a model of the user, which says on its first night that it is the first', async () => {
  const [soon] = await readWatched(config());
  expect(soon).toMatchObject({
    name: 'soon',
    reason: 'this is its first night',
    entered: null,
    matches: (await found(WITHIN)).length,
  });
  expect(notices).toEqual([]);
  expect(readFileSync(join(models, 'soon.yml'), 'utf8')).toContain('watch: true');
});

it('each later night tells what is new and what left, in report, webhook and command', async () => {
  const [before] = await readLake(config(), {}, ({ session }) =>
    rows(session.connection, 'select max(snapshot_id) as id from runs'),
  );
  await night(22);
  const [soon] = await readWatched(config(), { name: 'soon' });
  const [now, then] = [await found(WITHIN), await found(WITHIN, String(before?.id))];
  const [entered, left] = [now.filter((id) => !then.includes(id)), then.filter((id) => !now.includes(id))];
  expect(entered.length).toBeGreaterThan(0);
  expect(left.length).toBeGreaterThan(0);
  expect(soon).toMatchObject({
    reason: null,
    matches: now.length,
    entered: entered.length,
    left: left.length,
  });
  expect(soon?.entered_rows.map((row) => row.lot_id)).toEqual(entered.slice(0, 50));
  expect(soon?.left_rows.map((row) => row.lot_id)).toEqual(left.slice(0, 50));
  const { document } = await reportOf(output);
  expect(document.querySelector('#watched')?.textContent).toContain(`${entered.length} match`);
  const explore = await openExplore(output, { models });
  expect(await explore.text('/')).toContain(
    `<a href="/searches#w-soon">soon: ${entered.length} new, ${left.length} left, ${now.length} match</a>`,
  );
  await explore.close();
  expect(notices).toHaveLength(1);
  expect(notices[0]?.watched).toMatchObject([{ name: 'soon', entered: entered.length, left: left.length }]);
  expect(notices[0]?.text).toContain(matchText(soon?.entered_rows[0] ?? {}));
});

it('compares with a snapshot that was current, not with one of a run that was killed before it published', async () => {
  const snapshots = join(output, 'lake', 'snapshots');
  const [told] = await readWatched(config());
  const current = basename(readlinkSync(join(output, 'lake', 'current')));
  const killed = '20261122T030000Z-abcdef';
  cpSync(join(snapshots, current), join(snapshots, killed), { recursive: true });
  const manifest = join(snapshots, killed, 'manifest.json');
  writeFileSync(manifest, readFileSync(manifest, 'utf8').replaceAll(current, killed));
  try {
    expect(await readWatched(config())).toEqual([told]);
  } finally {
    rmSync(join(snapshots, killed), { recursive: true });
  }
});

it('a changed search is not compared, and one that fails says why', async () => {
  const path = join(models, 'soon.sql');
  const text = readFileSync(path, 'utf8');
  writeFileSync(path, text.replace('3000', '4000'));
  await night(23);
  expect(await readWatched(config())).toMatchObject([
    { reason: 'the search was changed since the night before' },
  ]);
  writeFileSync(path, text.replace('estimate >= 3000', "estimate >= error('broken')"));
  await night(24);
  const [failed] = await readWatched(config(), { name: 'soon' });
  expect(failed).toMatchObject({ matches: null, entered: null });
  expect(failed?.reason).toContain('broken');
  await expect(readWatched(config(), { name: 'sooon' })).rejects.toThrow('did you mean soon?');
});
