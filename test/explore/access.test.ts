import { createHash } from 'node:crypto';
import { existsSync, lstatSync, readFileSync, rmSync } from 'node:fs';
import { request as send } from 'node:http';
import { connect } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readKept } from '../../src/ask/explore/kept.js';
import { startExplore } from '../../src/ask/explore/serve.js';
import { filesBelow } from '../../src/core/lake/files.js';
import { configFor, temporaryFolder } from '../pipelines/support.js';
import { night } from '../report/lake.js';
import { here, type Opened, openExplore, request } from './server.js';

const folder = temporaryFolder();
let explore: Opened;
beforeAll(async () => {
  await night(folder.path, { vehicles: 300, clock: new Date('2026-11-20T04:00:00Z') });
  explore = await openExplore(folder.path);
});
afterAll(async () => {
  await explore.close();
  folder.remove();
});

/** The content of every file of the lake. */
const digest = (): string => {
  const hash = createHash('sha256');
  for (const file of filesBelow(folder.path))
    hash.update(file).update(lstatSync(file).isSymbolicLink() ? '' : readFileSync(file));
  return hash.digest('hex');
};

/** The status of a request with any headers, which fetch would not send. */
const statusOf = (
  path: string,
  headers: Readonly<Record<string, string>>,
  method = 'GET',
): Promise<number | undefined> =>
  new Promise((resolve, reject) => {
    const sent = send(`${explore.origin}${path}`, { method, headers, lookup: here }, (answer) => {
      answer.resume();
      answer.on('end', () => resolve(answer.statusCode));
    });
    sent.on('error', reject).end();
  });

const PATHS = [
  '/',
  '/find?q=toyota',
  '/compare',
  '/tables',
  '/sql',
  '/runs',
  '/searches',
  '/report',
  '/lots.csv',
  '/catalog.json',
  '/assets/explore.css',
  '/car/1',
  '/tables/lots.html',
];

it('answers who has the token, and nobody else', async () => {
  for (const path of PATHS) {
    expect(await statusOf(path, {}), path).toBe(403);
    expect(await statusOf(path, { cookie: `${explore.cookie}x` }), path).toBe(403);
    expect(await statusOf(path, { cookie: explore.cookie }), path).toBeLessThan(405);
    expect(await statusOf(path, { cookie: explore.cookie }), path).not.toBe(403);
  }
  expect(await statusOf('/?token=', {})).toBe(403);
  expect(await statusOf('/?token=wrong', {})).toBe(403);
});

it('takes the token in a field from a browser without the cookie, alone or with the whole address', async () => {
  const page = await request(`${explore.origin}/car/1?pictures=1`);
  expect(page.status).toBe(403);
  expect(await page.text()).toMatch(/<form action="\/"><label>Token.*name="token"/);
  const paste = (text: string): Promise<Response> =>
    request(`${explore.origin}/?${new URLSearchParams({ token: text })}`, {
      headers: { 'sec-fetch-site': 'same-origin' },
    });
  const token = new URL(explore.url).searchParams.get('token') ?? '';
  for (const text of [token, ` ${token}\n`, explore.url, `Open ${explore.url}`]) {
    const opened = await paste(text);
    expect(opened.status, text).toBe(303);
    expect(opened.headers.get('set-cookie'), text).toContain(explore.cookie);
  }
  for (const text of ['', 'x', token.slice(1), `${token}x`, explore.origin, `${explore.origin}/?token=`]) {
    const refused = await paste(text);
    expect(refused.status, text).toBe(403);
    expect(refused.headers.get('set-cookie'), text).toBeNull();
    expect(await refused.text(), text).toContain('This is not the token');
  }
  // Nobody but the reader sees the field: not another host, and not another site.
  expect(
    await (await explore.get('/', { headers: { 'sec-fetch-site': 'cross-site' } })).text(),
  ).not.toContain('<form');
});

it('has the same address after a restart on a port that is named, and another one on any port', async () => {
  const config = configFor('http://127.0.0.1:9/api', folder.path);
  const none = { models: undefined, queries: undefined };
  const { port } = new URL(explore.origin);
  const taken = startExplore({ config, port: Number(port), folders: none });
  await expect(taken).rejects.toThrow('EADDRINUSE');
  const first = await openExplore(folder.path);
  await first.close();
  const named = Number(new URL(first.origin).port);
  const start = async (at: number): Promise<string> => {
    const server = await startExplore({ config, port: at, folders: none });
    await server.close();
    return server.url;
  };
  const url = await start(named);
  expect(url).not.toBe(first.url);
  expect(await start(named)).toBe(url);
  expect(new Set([url, await start(0), await start(0)]).size).toBe(3);
  expect(Object.keys(readKept(config).servers)).toEqual([String(named)]);
  rmSync(join(folder.path, 'explore.json'));
  expect(await start(named)).not.toBe(url);
});

it('compresses text for a browser that takes it, whole and piece by piece, and no file of columns', async () => {
  const encodings = { 'accept-encoding': 'gzip, br' };
  for (const path of ['/', '/assets/report.css', '/catalog.json', '/lots.csv', '/tables', '/report']) {
    const { headers } = await explore.get(path, { headers: encodings });
    expect(headers.get('content-encoding'), path).toBe('gzip');
    expect(headers.get('vary'), path).toBe('Accept-Encoding');
    for (const none of ['identity', 'br', 'gzip;q=0']) {
      const plain = await explore.get(path, { headers: { 'accept-encoding': none } });
      expect(plain.headers.get('content-encoding'), `${path} ${none}`).toBeNull();
      expect(plain.headers.get('vary'), path).toBe('Accept-Encoding');
    }
  }
  const parquet = await explore.get('/lots.parquet', { headers: encodings });
  expect(parquet.headers.get('content-encoding')).toBeNull();
  const [packed, plain] = await Promise.all(
    ['gzip', 'identity'].map(async (encoding) =>
      (await explore.get('/?make=Toyota', { headers: { 'accept-encoding': encoding } })).text(),
    ),
  );
  expect(packed).toBe(plain);
});

it('sends the head of a compressed page before the rest of it is known', async () => {
  const sql = 'select sum(a.lot_id * b.lot_id) from lots a, lots b, range(200) c';
  const answer = await explore.get(`/sql?${new URLSearchParams({ q: sql })}`, {
    headers: { 'accept-encoding': 'gzip' },
  });
  const reader = (answer.body as ReadableStream<Uint8Array>).getReader();
  const { value } = await reader.read();
  expect(new TextDecoder().decode(value)).toContain('<h1>SQL</h1>');
  await reader.cancel();
});

it('keeps the token out of the address and out of reach of scripts and other sites', async () => {
  const first = await request(explore.url);
  expect(first.status).toBe(303);
  expect(first.headers.get('location')).toBe('/');
  expect(first.headers.get('set-cookie')).toMatch(/HttpOnly; SameSite=Strict/);
});

it('refuses another name of this machine, so that no site can rebind its own', async () => {
  for (const host of [
    'evil.example',
    `evil.example:${new URL(explore.origin).port}`,
    '127.0.0.1',
    '0.0.0.0:80',
    `127.0.0.1:${new URL(explore.origin).port}`,
    `localhost:${new URL(explore.origin).port}`,
    `lotlake-0.localhost:${new URL(explore.origin).port}`,
  ])
    expect(await statusOf('/', { host, cookie: explore.cookie }), host).toBe(421);
});

it('refuses another origin, and a change without one', async () => {
  for (const origin of [
    'https://evil.example',
    'null',
    'http://127.0.0.1:1',
    explore.origin.replace('http', 'https'),
  ])
    for (const method of ['GET', 'POST'])
      expect(await statusOf('/searches', { origin, cookie: explore.cookie }, method), origin).toBe(403);
  expect(await statusOf('/searches', { cookie: explore.cookie }, 'POST')).toBe(403);
});

it('refuses what another site, or another port of this machine, asks with the cookie', async () => {
  const { cookie } = explore;
  for (const site of ['cross-site', 'same-site'])
    for (const path of PATHS)
      expect(await statusOf(path, { cookie, 'sec-fetch-site': site }), `${site} ${path}`).toBe(403);
  for (const site of ['same-origin', 'none'])
    expect(await statusOf('/', { cookie, 'sec-fetch-site': site }), site).toBe(200);
});

it('opens from a link of another site too, which a browser follows without a cookie', async () => {
  const answer = await request(`${explore.url}&make=Toyota`, { headers: { 'sec-fetch-site': 'cross-site' } });
  expect(answer.status).toBe(200);
  expect(answer.headers.get('refresh')).toBe('0; url=/?make=Toyota');
});

it('leads to no other host', async () => {
  const { search } = new URL(explore.url);
  for (const path of ['//evil.example', '///evil.example/a', '/\\evil.example', '//evil.example/%2f..']) {
    const answer = await request(`${explore.origin}${path}${search}`);
    const to = new URL(answer.headers.get('location') ?? '', explore.origin);
    expect(to.origin, path).toBe(explore.origin);
  }
});

it('lets pages load nothing from elsewhere, and pictures only where the reader asks', async () => {
  for (const path of PATHS.filter((path) => path !== '/report')) {
    const policy = (await explore.get(path)).headers.get('content-security-policy') ?? '';
    expect(policy, path).toContain("default-src 'none'");
    expect(policy, path).not.toContain('https:');
    expect(policy, path).not.toMatch(/script-src[^;]*unsafe/);
  }
  const without = await explore.get('/lots?source=copart_com');
  await explore.send('/pictures', { show: 'copart_com', back: '/lots' });
  const allowed = await explore.get('/lots?source=copart_com');
  await explore.send('/pictures', { hide: 'copart_com', back: '/lots' });
  expect(without.headers.get('content-security-policy')).toContain("img-src 'self' data:;");
  expect(allowed.headers.get('content-security-policy')).toContain("img-src 'self' data: https:;");
  expect(await without.text()).not.toContain('<img');
});

it('writes nothing, whatever is asked', async () => {
  const before = digest();
  const outside = join(folder.path, 'written.csv');
  const texts = [
    'insert into lots values (1)',
    'create table t as from lots',
    'drop view lots',
    "attach 'x.db' as x",
    `copy lots to '${outside}'`,
    `copy (from lots) to '${outside}'`,
    `select * from query('copy lots to ''${outside}''')`,
    'delete from explore.lots_on_offer',
    "set memory_limit = '1MB'",
    'install httpfs',
    `from read_csv('/etc/passwd')`,
    `from read_text('${join(folder.path, 'lotlake.lock')}')`,
    "from read_csv('http://127.0.0.1:1/x.csv')",
    'select 1; drop view lots',
    'select 1\0; drop view lots',
    'checkpoint',
    'call pragma_version()',
  ];
  for (const sql of texts) {
    const page = await (await explore.get(`/sql?${new URLSearchParams({ q: sql })}`)).text();
    expect(page, sql).toContain('role="alert"');
    const csv = await explore.get(`/query.csv?${new URLSearchParams({ q: sql })}`);
    expect(csv.status, sql).toBe(400);
    await explore.get(
      `/tables/lots.html?${new URLSearchParams({ by: 'domain_id', where: `true) union (${sql}` })}`,
    );
  }
  for (const path of PATHS)
    for (const method of ['PUT', 'DELETE', 'PATCH'])
      expect(await statusOf(path, { cookie: explore.cookie, origin: explore.origin }, method)).toBe(404);
  expect((await explore.send('/searches', { name: 'mine', search: 'make=Toyota' })).status).toBe(400);
  expect((await explore.send('/queries', { name: 'mine', sql: 'from lots' })).status).toBe(400);
  expect(existsSync(outside)).toBe(false);
  expect(digest()).toBe(before);
  expect(await explore.text('/')).toContain('lots');
});

it('saves only new files of plain names in its own folders', async () => {
  const own = temporaryFolder();
  const folders = { models: join(own.path, 'models'), queries: join(own.path, 'queries') };
  const writing = await openExplore(folder.path, folders);
  try {
    for (const name of ['', '../', '12', 'lots', 'Lots!'])
      expect((await writing.send('/searches', { name, search: 'make=Toyota' })).status, name).toBe(400);
    expect((await writing.send('/queries', { name: 'x', sql: 'drop view lots' })).status).toBe(400);
    expect(
      (await writing.send('/searches', { name: 'mine', search: "make=Toyota&seller=o'neill" })).status,
    ).toBe(303);
    expect((await writing.send('/searches', { name: 'mine', search: 'make=Ford' })).status).toBe(400);
    expect((await writing.send('/queries', { name: 'mine', sql: 'from lots' })).status).toBe(303);
    expect(
      (await writing.send('/searches', { name: 'cheap', sql: 'select vehicle_id from lots' })).status,
    ).toBe(400);
    const cheap = 'select lot_id, bid from lots where bid < 500; -- cheap';
    expect((await writing.send('/searches', { name: 'cheap', sql: cheap })).status).toBe(303);
    expect(filesBelow(own.path).map((file) => file.slice(own.path.length))).toEqual([
      '/models/cheap.sql',
      '/models/cheap.yml',
      '/models/mine.sql',
      '/models/mine.yml',
      '/queries/mine.sql',
    ]);
    expect(await writing.text('/sql?name=mine')).toContain('from lots');
    expect(await writing.text('/searches')).toContain('mine');
  } finally {
    await writing.close();
    own.remove();
  }
});

it('answers a hundred malformed requests, and the next good one', async () => {
  const { host, port } = new URL(explore.origin);
  const paths = Array.from({ length: 100 }, (_, i) => {
    const broken = [
      '%',
      '%00',
      '%ff%fe',
      '\u{1f697}',
      '..%2f..%2fetc%2fpasswd',
      "'--",
      '"><script>',
      '9'.repeat(400),
      '{{',
      'NaN',
    ][i % 10];
    const places = [
      '/lots?page=',
      '/lots?year_from=',
      '/lots?make=',
      '/find?q=',
      '/car/',
      '/tables/',
      '/marts/sales.html?by=',
      '/compare?kind=make&of=',
      '/sql?q=',
      '/assets/',
    ];
    return `${places[Math.floor(i / 10)]}${broken}`;
  });
  const raw = (line: string): Promise<string> =>
    new Promise((resolve) => {
      const socket = connect(Number(port), '127.0.0.1', () => socket.write(line));
      let answer = '';
      socket.on('data', (piece) => (answer += piece)).on('close', () => resolve(answer));
      socket.on('error', () => resolve(answer));
    });
  for (const path of paths) {
    const target = path.replaceAll(/[^\x21-\x7e]/gu, encodeURIComponent);
    const answer = await raw(
      `GET ${target} HTTP/1.1\r\nhost: ${host}\r\ncookie: ${explore.cookie}\r\nconnection: close\r\n\r\n`,
    );
    expect(answer, path).toMatch(/^HTTP\/1\.1 (200|303|400|404)/);
    expect(answer, path).not.toContain('<script>');
  }
  await raw('GARBAGE\r\n\r\n');
  await raw(`GET / HTTP/1.1\r\nhost: ${host}\r\ncontent-length: x\r\n\r\n`);
  expect((await explore.send('/queries', { name: 'big', sql: 'x'.repeat(1_300_000) })).status).toBe(413);
  expect((await explore.get('/')).status).toBe(200);
});

it('takes a query as long as its field as it is, and no address for another thing', async () => {
  const q = `select 42 as answer -- ${'한'.repeat(99_000)}`;
  const page = await explore.text(`/sql?${new URLSearchParams({ q })}`);
  expect(page).toContain('<th scope="row" class="number">42');
  const turned = "select 'a\u202e<b>\u200fc' as x\n";
  const editor = await explore.text(`/sql?${new URLSearchParams({ q: turned })}`);
  const [, field = ''] = /<textarea[^>]*>(.*?)<\/textarea>/s.exec(editor) ?? [];
  expect(field.replaceAll(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))).toBe(turned);
  for (const name of ['__proto__', 'constructor', 'toString', '..%2freport.css'])
    expect(await statusOf(`/assets/${name}`, { cookie: explore.cookie }), name).toBe(404);
});
