import { writeFileSync } from 'node:fs';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FollowedCar } from '../../src/ask/query/followed.js';
import type { Watched } from '../../src/ask/query/watched.js';
import { type Config, readConfig, readSettings } from '../../src/base/config/config.js';
import { redacted } from '../../src/base/config/redact.js';
import { channelsOf } from '../../src/beyond/notify/channels.js';
import { telegramHtml, withinBytes } from '../../src/beyond/notify/formats.js';
import { type Notice, noticeOf, type Route } from '../../src/beyond/notify/notice.js';
import { Unsure } from '../../src/beyond/notify/post.js';
import { runRecord } from '../lake/run-record.js';
import { temporaryFolder } from '../pipelines/support.js';
import { type Receivers, startReceivers } from './receivers.js';

const PASSWORD = 'xK9-7781-QQ-mailbox';
const TOKEN = '123456:token-of-the-bot';
const folder = temporaryFolder();
let receivers: Receivers;
beforeAll(async () => {
  receivers = await startReceivers(PASSWORD);
});
afterAll(async () => {
  await receivers.close();
  folder.remove();
});

/** Texts of a feed that want to be more than text. */
const HOSTILE =
  '<b>Sale</b> <a href="https://evil.example">x</a> & [a](https://evil.example) @everyone <!channel> #tag /start evil.com `rm` "q"\u202e\r\nBcc: all@example.com купить-тут.рф';
const LINK = 'https://www.copart.com/lot/61234567?a=1&b="2"';

const search = (name: string, rows: number): Watched => ({
  ...{
    name,
    description: '',
    matches: rows,
    since: 's',
    reason: null,
    entered: rows,
    left: 0,
    left_rows: [],
  },
  entered_rows: Array.from({ length: Math.min(rows, 50) }, (_, i) => ({
    ...{ lot_id: i, lot: `${i}`, domain_name: 'copart_com', manufacturer_name: HOSTILE, link: LINK },
  })),
});
const car = (vin: string): FollowedCar => ({
  ...{ car: `VIN ${vin}`, name: HOSTILE, vehicle_ids: [1], since: 's', lots: [] },
  events: [
    { event: 'bid', lot_id: 1, lot: '61234567', domain_name: 'copart_com', link: LINK, text: 'bid 5 USD' },
  ],
});
const run = runRecord({ attempt: 1, outcome: 'published' });
const ALL: Route = { on: ['failure', 'hold', 'alarm', 'watch', 'car', 'success'] };

const noticed = (news: Partial<Parameters<typeof noticeOf>[0]>, route: Route = ALL): Notice => {
  const notice = noticeOf({ runs: [run], ...news }, route);
  if (notice === undefined) throw new Error('there is no notice');
  return notice;
};

const NOTICE = () => noticed({ searches: [search('bargains', 3)], cars: [car('A')] });

const configOf = (channels: object): Config => {
  writeFileSync(join(folder.path, 'lotlake.config.json'), JSON.stringify({ notify: { channels } }));
  return readConfig({}, { env: {}, cwd: folder.path });
};

/** Sends a notice to the channels of some settings. Returns what each said. */
async function sent(channels: object, env: NodeJS.ProcessEnv, notice = NOTICE()) {
  const { signal } = new AbortController();
  return Promise.all(
    channelsOf(configOf(channels), env).map(({ send }) =>
      send({ id: 'message-1', notice, signal }).catch((error: Error) => error.message),
    ),
  );
}

describe('a channel', () => {
  it('webhook gets JSON with a text, what happened, and one id for one message', async () => {
    expect(await sent({ chat: { kind: 'webhook', url: `${receivers.url}/hook?key=1` } }, {})).toEqual([
      undefined,
    ]);
    const { posts } = receivers.taken();
    expect(posts).toMatchObject([
      {
        path: '/hook?key=1',
        headers: { 'idempotency-key': 'message-1' },
        body: {
          id: 'message-1',
          run: { outcome: 'published' },
          watched: [{ name: 'bargains' }],
          cars: [{ car: 'VIN A' }],
        },
      },
    ]);
    expect(posts[0]?.body.text).not.toMatch(/[<>@`\u202e]|:\/\/|\]\(|evil\.(com|example)|тут\.рф/);
  });

  it('ntfy gets a topic, a title and text of at most 4,096 bytes', async () => {
    const channels = { phone: { kind: 'ntfy', url: `${receivers.url}/my-topic` } };
    await sent(
      channels,
      { LOTLAKE_NTFY_TOKEN: 'tk_of_ntfy' },
      noticed({ searches: Array.from({ length: 20 }, (_, i) => search(`s${i}`, 60)) }),
    );
    const [post] = receivers.taken().posts;
    expect(post).toMatchObject({
      path: '/',
      headers: { authorization: 'Bearer tk_of_ntfy' },
      body: { topic: 'my-topic' },
    });
    const { message, title } = post?.body ?? {};
    expect(title).toBe('s0: 60 new, 0 left; s1: 60 new, 0 left; s2: 60 new, 0 left; 17 more searches');
    expect(Buffer.byteLength(String(message))).toBeLessThanOrEqual(4096);
    expect(message).toMatch(/… and more: lotlake watch/);
  });

  it('Telegram gets its HTML, in which texts of the feed are text, and links to lots alone', async () => {
    const channels = { family: { kind: 'telegram', chat: -1001234, server: receivers.url } };
    await sent(channels, { LOTLAKE_TELEGRAM_TOKEN: TOKEN });
    const [post] = receivers.taken().posts;
    expect(post).toMatchObject({
      path: `/bot${TOKEN}/sendMessage`,
      body: { chat_id: -1001234, parse_mode: 'HTML', link_preview_options: { is_disabled: true } },
    });
    const text = String(post?.body.text);
    expect(text.match(/<\/?\w+/g)?.filter((tag) => !/^<\/?[ab]$/.test(tag))).toEqual([]);
    expect(new Set(text.match(/href="[^"]*"/g))).toEqual(
      new Set(['href="https://www.copart.com/lot/61234567?a=1&amp;b=&quot;2&quot;"']),
    );
    expect(text.replaceAll(/<a href="[^"]*">lot<\/a>|<\/?b>/g, '')).not.toMatch(
      /[<>@#`\u202e]|:\/\/|\s\/\w|&(?!amp;|quot;)|evil\.(com|example)/,
    );
    // A long part leaves room for those after it.
    const wide = { head: 'wide', lines: Array.from({ length: 60 }, () => ({ text: 'x'.repeat(290) })) };
    expect(telegramHtml({ parts: [{ head: 'run', lines: [] }, wide, { head: 'last', lines: [] }] })).toMatch(
      /^<b>run<\/b>\n<b>wide<\/b>\nx+\n[\s\S]*<b>last<\/b>\n… and more/,
    );
    expect(telegramHtml({ parts: [{ head: `${'a'.repeat(298)}🚗🚗`, lines: [] }] }).isWellFormed()).toBe(
      true,
    );
    const long = telegramHtml(
      noticed({ searches: Array.from({ length: 20 }, (_, i) => search(`s${i}`, 60)) }),
    );
    expect(long.length).toBeLessThanOrEqual(4096);
    expect((long.match(/<b>/g) ?? []).length).toBe((long.match(/<\/b>/g) ?? []).length);
  });

  it('mail gets text and HTML, in headers that no text of the feed can leave', async () => {
    const server = `smtp://me@${receivers.mailHost}`;
    const channels = {
      desk: {
        kind: 'mail',
        to: ['desk@example.com', 'nobody@example.com'],
        from: 'lake@example.com',
        server,
      },
    };
    const notice = noticed({ cars: [car('A')] });
    expect(await sent(channels, { LOTLAKE_SMTP_PASSWORD: PASSWORD }, notice)).toEqual([
      'the mail server did not take it for nobody@example.com',
    ]);
    const { mails } = receivers.taken();
    expect(mails).toHaveLength(1);
    const [mail] = mails;
    expect(mail).toMatchObject({
      recipients: ['desk@example.com'],
      user: 'me',
      from: { name: 'lotlake', address: 'lake@example.com' },
      messageId: '<message-1@example.com>',
    });
    expect(mail?.headers.filter(({ key }) => key === 'bcc')).toEqual([]);
    expect(mail?.headers).toContainEqual(
      expect.objectContaining({ key: 'auto-submitted', value: 'auto-generated' }),
    );
    expect(mail?.subject).toMatch(/^‹b›Sale.*Bcc: all＠example․com купить-тут․рф, VIN A: bid 5 USD$/);
    expect(mail?.text).toContain('bid 5 USD (lot 61234567 of copart_com)');
    expect(
      mail?.html?.match(/<\/?\w+/g)?.filter((tag) => !/^<\/?(html|body|p|ul|li|a|br)$/.test(tag)),
    ).toEqual([]);
    expect(mail?.html?.match(/href="[^"]*"/g)).toEqual([
      'href="https://www.copart.com/lot/61234567?a=1&amp;b=&quot;2&quot;"',
    ]);
  });

  it('says why it did not take a message, without its secret', async () => {
    receivers.setDown(true);
    const secretFile = join(folder.path, 'token');
    writeFileSync(secretFile, `${TOKEN}\n`);
    const said = await sent(
      {
        a: { kind: 'webhook', url: `${receivers.url}/hook-of-a-secret` },
        b: { kind: 'ntfy', url: `${receivers.url}/topic` },
        c: { kind: 'telegram', chat: '@public', server: receivers.url, secretFile: 'token' },
        d: { kind: 'telegram', chat: '1', server: receivers.url },
        e: { kind: 'mail', to: 'desk@example.com', server: `smtp://me@${receivers.mailHost}` },
        f: { kind: 'mail', to: 'desk@example.com', server: `smtp://me@${receivers.mailHost}`, secretFile },
        g: { kind: 'mail', to: 'desk@example.com', server: 'smtp://127.0.0.1:9' },
        h: { kind: 'ntfy', url: `${receivers.url}/topic`, secretFile: 'nowhere' },
      },
      { LOTLAKE_SMTP_PASSWORD: PASSWORD },
    );
    receivers.setDown(false);
    expect(said).toEqual([
      'it answers 503',
      ...Array(2).fill('it answers 503: down for repairs'),
      'no token is set',
      expect.stringContaining('down for repairs'),
      expect.stringMatching(/Invalid login.*wrong password/),
      expect.stringMatching(/ECONNREFUSED/),
      expect.stringMatching(/^its secret cannot be read: ENOENT/),
    ]);
    expect(said.join()).not.toMatch(/hook-of-a-secret|token-of-the-bot|xK9-7781/);
    expect(redacted(`${TOKEN} ${PASSWORD}`)).toBe('… …');
    expect(receivers.taken()).toEqual({ posts: [], mails: [] });
  });
});

describe('a receiver that does not say whether it took a message', () => {
  /** A server that answers as told, after it has the whole request. */
  async function answering(answer: (response: ServerResponse) => void) {
    let requests = 0;
    const server = createServer(async (request, response) => {
      for await (const _ of request);
      requests++;
      answer(response);
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const close = (): void => {
      server.closeAllConnections();
      server.close();
    };
    return { url, close, requests: () => requests };
  }

  it.each<[string, (response: ServerResponse) => void, string, number]>([
    ['closes the connection', (response) => response.destroy(), 'Unsure', 1],
    ['is behind a gateway without an answer', (response) => void response.writeHead(504).end(), 'Unsure', 1],
    ['will never take it', (response) => void response.writeHead(413).end(), 'Unsure', 1],
    ['takes none at the time', (response) => void response.writeHead(503).end(), 'Error', 2],
    ['does not know the sender', (response) => void response.writeHead(401).end(), 'Error', 1],
  ])('because it %s', async (_, answer, kind, requests) => {
    const server = await answering(answer);
    const { signal } = new AbortController();
    for (const channels of [
      { a: { kind: 'webhook', url: server.url } },
      { a: { kind: 'ntfy', url: `${server.url}/topic` } },
      { a: { kind: 'telegram', chat: 1, server: server.url } },
    ]) {
      const before = server.requests();
      const [channel] = channelsOf(configOf(channels), { LOTLAKE_TELEGRAM_TOKEN: TOKEN });
      const error = await channel
        ?.send({ id: '1', notice: NOTICE(), signal })
        .catch((given: unknown) => given);
      expect(error instanceof Unsure ? 'Unsure' : 'Error', JSON.stringify(channels)).toBe(kind);
      expect(server.requests() - before).toBe(requests);
    }
    server.close();
  });

  it('is not asked by a mail that lotlake gave up', async () => {
    const slow = await startReceivers(undefined, { delay: 1500 });
    const late = AbortSignal.timeout(700);
    const [channel] = channelsOf(
      configOf({ desk: { kind: 'mail', to: 'desk@example.com', server: `smtp://${slow.mailHost}` } }),
    );
    await expect(channel?.send({ id: '1', notice: NOTICE(), signal: late })).rejects.toThrow(Unsure);
    await slow.close();
  });
});

it('a mail server elsewhere gets a password over TLS alone', async () => {
  const other = await startReceivers(PASSWORD, { host: '127.0.0.2' });
  const server = `smtp://me@${other.mailHost}`;
  const said = await sent(
    { desk: { kind: 'mail', to: 'desk@example.com', server } },
    { LOTLAKE_SMTP_PASSWORD: PASSWORD },
  );
  expect(said).toEqual([expect.stringMatching(/TLS/)]);
  expect(other.taken().mails).toEqual([]);
  await other.close();
});

it('a mail server on this machine may offer TLS with a certificate of its own', async () => {
  const own = await startReceivers(undefined, { hasTls: true });
  expect(
    await sent({ desk: { kind: 'mail', to: 'desk@example.com', server: `smtp://${own.mailHost}` } }, {}),
  ).toEqual([undefined]);
  expect(own.taken().mails).toHaveLength(1);
  await own.close();
});

describe('a route', () => {
  const news = { searches: [search('bargains', 3), search('trucks', 1)], cars: [car('A')] };
  it.each<[string, Route, string[], number]>([
    ['of all', ALL, ['bargains', 'trucks'], 1],
    ['of one search', { on: ['watch'], searches: ['trucks'] }, ['trucks'], 0],
    ['of cars', { on: ['car'] }, [], 1],
    ['of runs that publish', { on: ['success'] }, [], 0],
  ])('%s has only what it wants', (_, route, names, cars) => {
    const { facts } = noticed(news, route);
    expect(facts).toMatchObject({ watched: names.map((name) => ({ name })) });
    expect(facts.cars).toHaveLength(cars);
  });

  it('of failures, or of a search with nothing new, is silent', () => {
    for (const route of [{ on: ['failure'] }, { on: ['watch'], searches: ['other'] }] as const)
      expect(noticeOf({ runs: [run], ...news }, route)).toBeUndefined();
    expect(noticeOf({ runs: [run], searches: [search('bargains', 0)] }, ALL)?.facts.watched).toEqual([]);
  });

  it('that missed runs names the last five and counts the others', () => {
    const runs = Array.from({ length: 9 }, (_, i) =>
      runRecord({
        attempt: i + 1,
        outcome: 'failed',
        exit_code: 1,
        error: { code: `E${i}`, stage: '', message: '', hint: null },
      }),
    );
    const { parts, facts } = noticed({ runs }, { on: ['failure'] });
    expect(parts.map(({ head }) => /E\d|3 earlier runs/.exec(head)?.[0])).toEqual([
      '3 earlier runs',
      'E3',
      'E4',
      'E5',
      'E6',
      'E7',
      'E8',
    ]);
    expect(facts.missed).toHaveLength(5);
  });
});

it('a text is cut at a line, and says so', () => {
  expect(withinBytes('a\nb', 100)).toBe('a\nb');
  expect(withinBytes(`ü${'ä'.repeat(30)}\n${'b'.repeat(60)}`, 120)).toBe(
    `ü${'ä'.repeat(30)}\n… and more: lotlake watch, lotlake status`,
  );
});

it('settings of channels are checked, and are not shown', () => {
  for (const [channels, message] of [
    [
      { phone: { kind: 'sms' } },
      /^notify.channels in .*: a kind of webhook, ntfy, telegram or mail|takes a kind/,
    ],
    [
      { phone: { kind: 'ntfy', url: 'https://ntfy.sh/hidden/more' } },
      /^phone.url of notify.channels in .*its path is not one topic/,
    ],
    [
      { phone: { kind: 'ntfy', url: 'https://u:hidden@ntfy.sh/t' } },
      /it holds credentials; a token belongs in LOTLAKE_NTFY_TOKEN/,
    ],
    [{ desk: { kind: 'mail', to: 'hidden', server: 'smtp://h' } }, /it takes addresses such as/],
    [{ desk: { kind: 'mail', to: 'a@b.example', server: 'smtp://me:hidden@h' } }, /it holds a password/],
    [{ desk: { kind: 'mail', to: 'a@b.example', server: 'http://h' } }, /it is no address of smtps or smtp/],
    [{ t: { kind: 'telegram', chat: 'hidden', server: 'https://h' } }, /the id of a chat/],
    [{ t: { kind: 'telegram', chat: 1, server: 'http://hidden.example' } }, /not https/],
    [{ 'no/name': { kind: 'webhook', url: 'https://h' } }, /names of small letters|cannot be used/],
    [{ w: { kind: 'webhook', url: 'https://h', onn: ['car'] } }, /there is no such setting/],
  ] as const) {
    expect(() => configOf(channels), JSON.stringify(channels)).toThrow(message);
    expect(() => configOf(channels)).not.toThrow(/hidden(?!\.)/);
  }
  configOf({ phone: { kind: 'ntfy', url: 'https://ntfy.sh/hidden-topic' } });
  const { inForce } = readSettings({}, { env: {}, cwd: folder.path });
  expect(inForce.find(({ name }) => name === 'notify.channels')?.value).toEqual({ phone: 'ntfy' });
  expect(JSON.stringify(inForce)).not.toContain('hidden');
});
