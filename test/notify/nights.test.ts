import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { readLake } from '../../src/ask/query/open-lake.js';
import { rows } from '../../src/base/duck/session.js';
import { currentSnapshot, layoutOf } from '../../src/core/lake/layout.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { type Ended, startLotlake } from '../pipelines/lake-process.js';
import { configFor, temporaryFolder, WITHOUT_CATALOG } from '../pipelines/support.js';
import { type Receivers, startReceivers } from './receivers.js';

const folder = temporaryFolder();
const output = join(folder.path, 'output');
const layout = layoutOf(output);
const config = configFor('http://127.0.0.1:9/api', output);
const CHANNELS = ['chat', 'phone', 'family', 'desk'] as const;
type Name = (typeof CHANNELS)[number];
let receivers: Receivers;

beforeAll(async () => {
  receivers = await startReceivers();
  mkdirSync(join(folder.path, 'models'));
  const on = ['watch', 'car'];
  const channels = {
    chat: { kind: 'webhook', url: `${receivers.url}/chat`, on },
    phone: { kind: 'ntfy', url: `${receivers.url}/phone`, on },
    family: { kind: 'telegram', chat: 1, server: receivers.url, on },
    desk: { kind: 'mail', to: 'desk@example.com', server: `smtp://${receivers.mailHost}`, on },
  };
  writeFileSync(join(folder.path, 'lotlake.config.json'), JSON.stringify({ notify: { channels } }));
  writeFileSync(
    join(folder.path, 'models', 'soon.sql'),
    'select lot_id, lot from lots_on_offer where sale_date <= (select as_of from dim_settings) + interval 4 day\n',
  );
  writeFileSync(
    join(folder.path, 'models', 'soon.yml'),
    'description: Soon.\nwatch: true\ngrain: one row a lot\nkey: [lot_id]\ncolumns:\n  lot_id: { description: Lot., tests: [not_null] }\n  lot: { description: Number. }\n',
  );
  await run(20);
});
afterAll(async () => {
  await receivers.close();
  folder.remove();
});

/** Runs a night of the sandbox on a day of November. */
async function run(day: number, env: NodeJS.ProcessEnv = {}, pipeline = 'nightly'): Promise<Ended> {
  const clock = new Date(Date.UTC(2026, 10, day, 4));
  const sandbox = await startSandbox({ vehicles: 300, seed: 11, clock, faults: WITHOUT_CATALOG });
  const given = { LOTLAKE_TELEGRAM_TOKEN: '1:token-of-a-test', LOTLAKE_KEEP_DAYS: '100', ...env };
  const place = { url: sandbox.url, output, cwd: folder.path, env: given };
  const ended = await startLotlake(['run', pipeline], place).ended;
  await sandbox.close();
  return ended;
}

/** Runs a command beside the lake. */
const lotlake = (...args: string[]): Promise<Ended> =>
  startLotlake(args, { url: 'http://127.0.0.1:9/api', output, cwd: folder.path }).ended;

const published = (): string => basename(currentSnapshot(layout) ?? '');

const bodySchema = z.looseObject({
  text: z.string(),
  watched: z.array(
    z.looseObject({ name: z.string(), since: z.string().nullable(), entered: z.int(), left: z.int() }),
  ),
  cars: z.array(
    z.looseObject({
      car: z.string(),
      since: z.string().nullable(),
      events: z.array(z.looseObject({ lot_id: z.int(), event: z.string() })),
    }),
  ),
});

/** What came to each channel: the texts, and of the webhook its body. */
function arrived() {
  const { posts, mails } = receivers.taken();
  const at = (path: RegExp) => posts.filter((post) => path.test(post.path));
  const texts: Record<Name, string[]> = {
    chat: at(/chat/).map(({ body }) => String(body.text)),
    phone: at(/^\/$/).map(({ body }) => String(body.message)),
    family: at(/bot/).map(({ body }) => String(body.text)),
    desk: mails.map(({ text = '' }) => text),
  };
  return { texts, bodies: at(/chat/).map(({ body }) => bodySchema.parse(body)) };
}

/** What the tables of changes say of the followed lots between two snapshots: each lot with what is another than before. */
async function changed(from: string, to: string): Promise<string[]> {
  const lotsOf = (snapshot: string) =>
    readLake(config, { choice: { snapshot } }, ({ session: { connection } }) =>
      rows(
        connection,
        `select lot_id, lots.archived from lots join vehicles using (vehicle_id) where vehicles.vin in (${followed.map((vin) => `'${vin}'`).join()})`,
      ),
    );
  const [then, now] = [await lotsOf(from), await lotsOf(to)];
  const stays = now.filter(({ lot_id, archived }) => {
    const before = then.find((lot) => lot.lot_id === lot_id);
    return before !== undefined && before.archived === false && archived === false;
  });
  const found = await readLake(config, { choice: { snapshot: to } }, ({ session: { connection } }) =>
    rows(
      connection,
      `with past as (
         select lot_id, field, arg_min(old_value, seen_at) as was, arg_max(new_value, seen_at) as becomes
         from lot_changes
         where run_id in (select run_id from runs where run_id > '${from}' and run_id <= '${to}')
           and field in ('sale_date', 'bid', 'buy_now')
         group by all
       )
       select lot_id, field from past
       where coalesce(was, '0') is distinct from coalesce(becomes, '0') and (field <> 'bid' or coalesce(becomes, '0') <> '0')`,
    ),
  );
  const isOf = (lots: typeof then, id: unknown) => lots.some(({ lot_id }) => lot_id === id);
  return [
    ...found.filter(({ lot_id }) => isOf(stays, lot_id)).map(({ lot_id, field }) => `${lot_id} ${field}`),
    ...now
      .filter(({ archived, lot_id }) => archived === false && !isOf(then, lot_id))
      .map(({ lot_id }) => `${lot_id} offer`),
    ...now
      .filter(
        ({ lot_id, archived }) =>
          archived === true && then.some((lot) => lot.lot_id === lot_id && lot.archived === false),
      )
      .map(({ lot_id }) => `${lot_id} left`),
  ].sort();
}

/** The same, as a message says it. Results come from a mart and are checked by themselves. */
const told = ({ cars }: z.output<typeof bodySchema>): string[] =>
  [
    ...new Set(
      cars
        .flatMap(({ events }) => events)
        .filter(({ event }) => event !== 'result')
        .map(({ lot_id, event }) => {
          const field = /date/.test(event) ? 'sale_date' : /buy_now/.test(event) ? 'buy_now' : event;
          return `${lot_id} ${/offer|listed/.test(field) ? 'offer' : field}`;
        }),
    ),
  ].sort();

let followed: string[] = [];
/** The snapshot that every channel knows. */
let known = '';

/** Checks that each channel got one message, and that the webhook tells what changed since a snapshot. */
async function expectNews(since: string): Promise<ReturnType<typeof arrived>> {
  const found = arrived();
  for (const name of CHANNELS) expect(found.texts[name], name).toHaveLength(1);
  const [body] = found.bodies;
  if (body === undefined) throw new Error('the webhook got nothing');
  expect(told(body)).toEqual(await changed(since, published()));
  for (const { since: compared } of [...body.watched, ...body.cars]) expect(compared).toBe(since);
  return found;
}

it('a car is followed from the command line, by VIN or by lot, and said so', async () => {
  expect(arrived().texts).toEqual({ chat: [], phone: [], family: [], desk: [] });
  const cars = await readLake(config, {}, ({ session: { connection } }) =>
    rows(
      connection,
      'select vin, any_value(trim(lot)) as lot from vehicles join lots using (vehicle_id) where length(vin) = 17 and not lots.archived group by vin having count(*) = 1 order by hash(vin) limit 150',
    ),
  );
  followed = cars.map(({ vin }) => String(vin));
  const [first, second] = cars;
  expect((await lotlake('watch', '--vin', `${first?.vin}`.toLowerCase())).out).toMatch(
    /^\S.*, VIN \w{17}: followed\n$/,
  );
  expect((await lotlake('watch', '--lot', `${second?.lot}`)).out).toMatch(/, lot \S+: followed\n$/);
  expect((await lotlake('watch', '--vin', 'ZZZZZZZZZZZZZZZZZ')).out).toContain(
    'the lake has no such car yet',
  );
  expect((await lotlake('watch', '--vin', 'ZZZZZZZZZZZZZZZZZ', '--stop')).out).toContain(
    'not followed any more',
  );
  expect(await lotlake('watch', '--stop')).toMatchObject({
    code: 2,
    err: expect.stringContaining('--stop needs a car'),
  });
  const path = join(output, 'followed.json');
  const rest = followed.slice(2).map((vin) => ({ vin }));
  writeFileSync(path, JSON.stringify([...JSON.parse(readFileSync(path, 'utf8')), ...rest]));
  known = published();
});

it('each channel is told once what a night brought, and a repeated night tells nothing', async () => {
  expect((await run(21)).code).toBe(0);
  const { bodies, texts } = await expectNews(known);
  expect(told(bodies[0] as z.output<typeof bodySchema>).length).toBeGreaterThan(5);
  expect(bodies[0]?.watched).toMatchObject([{ name: 'soon' }]);
  const results = (bodies[0]?.cars ?? []).flatMap(({ events }) =>
    events.filter(({ event }) => event === 'result'),
  );
  const settled = await readLake(config, {}, ({ session: { connection } }) =>
    rows(
      connection,
      `select lot_id from sales where lot_id in (select lot_id from lots join vehicles using (vehicle_id) where vehicles.vin in (${followed.map((vin) => `'${vin}'`).join()}))
       and outcome in ('sold', 'not_sold', 'on_approval')
       qualify attempt = max(attempt) over (partition by lot_id)`,
    ),
  );
  const before = await readLake(config, { choice: { snapshot: known } }, ({ session: { connection } }) =>
    rows(connection, "select lot_id from sales where outcome in ('sold', 'not_sold', 'on_approval')"),
  );
  const fresh = settled.filter(({ lot_id }) => before.every((row) => row.lot_id !== lot_id));
  expect(fresh.length).toBeGreaterThan(0);
  expect(results.map(({ lot_id }) => lot_id)).toEqual(
    expect.arrayContaining(fresh.map(({ lot_id }) => Number(lot_id))),
  );
  for (const name of CHANNELS)
    expect(texts[name][0]).toMatch(/lotlake nightly of [\s\S]*search soon: \d+ new[\s\S]*VIN/);
  known = published();
  for (const pipeline of ['nightly', 'rebuild']) {
    expect((await run(21, {}, pipeline)).code).toBe(0);
    expect(arrived().texts).toEqual({ chat: [], phone: [], family: [], desk: [] });
  }
  const { out } = await lotlake('watch', '--json');
  expect(JSON.parse(out)).toMatchObject({ searches: [{ name: 'soon' }], cars: { length: 150 } });
  known = published();
});

it('a channel that is down is told what it missed once it is there again', async () => {
  receivers.setDown(true);
  for (const day of [22, 23]) {
    const { code, err } = await run(day);
    expect(code).toBe(0);
    for (const name of CHANNELS)
      expect(err).toMatch(
        new RegExp(
          `the channel ${name} \\(\\w+\\) was not told: .*(503|down for repairs).*; the next run tells it`,
        ),
      );
    expect(arrived().texts).toEqual({ chat: [], phone: [], family: [], desk: [] });
  }
  receivers.setDown(false);
  expect((await run(24)).code).toBe(0);
  const { texts } = await expectNews(known);
  for (const name of CHANNELS) expect(texts[name][0]).toContain('This channel could not be told since');
  known = published();
});

it('a list of cars that cannot be read costs nobody the searches, and the cars are told once it can', async () => {
  const path = join(output, 'followed.json');
  const kept = readFileSync(path, 'utf8');
  writeFileSync(path, `${kept.trim()},`);
  expect((await run(25)).code).toBe(0);
  const { bodies, texts } = arrived();
  for (const name of CHANNELS) {
    expect(texts[name], name).toHaveLength(1);
    expect(texts[name][0]).toMatch(/the cars that are followed could not be read: .*is no list/);
  }
  expect(bodies[0]?.watched).toMatchObject([{ name: 'soon', since: known }]);
  writeFileSync(path, kept);
  const between = published();
  expect((await run(26)).code).toBe(0);
  const next = arrived().bodies[0];
  expect(told(next as z.output<typeof bodySchema>)).toEqual(await changed(known, published()));
  for (const { since } of next?.watched ?? []) expect(since).toBe(between);
  known = published();
});

it('a message that may not have arrived is not sent again, and can be asked for', async () => {
  const before = known;
  expect((await run(27, { LOTLAKE_KILL_AT: 'notify.sent' })).signal).toBe('SIGKILL');
  const killed = published();
  const first = arrived();
  expect((await run(28)).code).toBe(0);
  const second = arrived();
  let doubted = 0;
  for (const name of CHANNELS) {
    expect(first.texts[name].length, name).toBeLessThanOrEqual(1);
    expect(second.texts[name], name).toHaveLength(1);
    const [text = ''] = second.texts[name];
    expect(text).not.toContain('could not be told');
    if (!text.includes('may not have arrived')) continue;
    doubted++;
    expect(text, name).toContain(`watch --since ${before}`);
  }
  expect(doubted).toBeGreaterThan(0);
  const [body] = second.bodies;
  const isTold = first.bodies.length === 1 || body?.text.includes('may not have arrived');
  expect(told(body as z.output<typeof bodySchema>)).toEqual(
    await changed(isTold === true ? killed : before, published()),
  );
  const { out } = await lotlake('watch', '--since', before);
  expect(out).toMatch(/soon: \d+ new, \d+ left/);
  known = published();
});

it('a snapshot that is not kept any more is said, and the night before is compared', async () => {
  receivers.setDown(true);
  expect((await run(29)).code).toBe(0);
  const before = published();
  const few = { LOTLAKE_KEEP_DAYS: '0', LOTLAKE_KEEP_SNAPSHOTS: '1' };
  const place = { url: 'http://127.0.0.1:9/api', output, cwd: folder.path, env: few };
  expect((await startLotlake(['vacuum'], place).ended).code).toBe(0);
  receivers.setDown(false);
  expect((await run(30)).code).toBe(0);
  const { texts } = await expectNews(before);
  for (const name of CHANNELS)
    expect(texts[name][0]).toMatch(/The snapshot \S+, which it was told of last, is not kept any more/);
  const gone = await lotlake('watch', '--since', known);
  expect(gone).toMatchObject({ code: 2, err: expect.stringContaining('LAKE_NO_SNAPSHOT') });
});
