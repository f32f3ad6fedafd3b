import {
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Ended, startLotlake } from '../pipelines/lake-process.js';
import { temporaryFolder } from '../pipelines/support.js';
import { type Receivers, startReceivers } from './receivers.js';

const folder = temporaryFolder();
let receivers: Receivers;
beforeAll(async () => {
  receivers = await startReceivers();
  const channels = {
    chat: { kind: 'webhook', url: `${receivers.url}/chat` },
    phone: { kind: 'ntfy', url: `${receivers.url}/phone` },
    family: { kind: 'telegram', chat: 1, server: receivers.url },
    desk: { kind: 'mail', to: 'desk@example.com', server: `smtp://${receivers.mailHost}` },
  };
  writeFileSync(join(folder.path, 'lotlake.config.json'), JSON.stringify({ notify: { channels } }));
});
afterAll(async () => {
  await receivers.close();
  folder.remove();
});

/** A run that fails at once, since nobody listens. Returns how it ended, and the texts that came to each channel. */
async function failingRun(env: NodeJS.ProcessEnv = {}) {
  const given = { LOTLAKE_TELEGRAM_TOKEN: '1:token-of-a-test', LOTLAKE_RETRY_BUDGET: '0.1', ...env };
  const place = {
    url: 'http://127.0.0.1:9/api',
    output: join(folder.path, 'output'),
    cwd: folder.path,
    env: given,
  };
  const ended: Ended = await startLotlake(['run', 'nightly'], place).ended;
  const { posts, mails } = receivers.taken();
  const at = (path: RegExp, text: string) =>
    posts.filter((post) => path.test(post.path)).map(({ body }) => String(body[text]));
  const texts = {
    chat: at(/chat/, 'text'),
    phone: at(/^\/$/, 'message'),
    family: at(/bot/, 'text').map((text) => text.replaceAll(/<[^>]*>/g, '')),
    desk: mails.map(({ text = '' }) => text),
  };
  return { ended, texts };
}

const DOUBT = /may not have arrived/;
/** The failures that a text tells of. */
const failures = (text: string): number => text.match(/lotlake nightly of .* failed/g)?.length ?? 0;

it('each of four channels is told of each failed run at most once, wherever lotlake is killed while it tells them', async () => {
  let doubts = 0;
  for (const point of [1, 2, 3, 4].flatMap((nth) => [`notify.noted#${nth}`, `notify.sent#${nth}`])) {
    const killed = await failingRun({ LOTLAKE_KILL_AT: point });
    expect(killed.ended.signal, killed.ended.err).toBe('SIGKILL');
    const next = await failingRun();
    expect(next.ended.code, next.ended.err).toBe(4);
    for (const [name, texts] of Object.entries(next.texts)) {
      const place = `${point} ${name}`;
      const before = killed.texts[name as keyof typeof killed.texts];
      expect(texts, place).toHaveLength(1);
      expect(before.length, place).toBeLessThanOrEqual(1);
      const [text = ''] = texts;
      const [isDoubted, isTold] = [DOUBT.test(text), before.length === 1];
      if (isDoubted) doubts++;
      // The failure of the killed process is told, in doubt, or still to tell; never two of them.
      expect(failures(text), `${place}: ${text}`).toBe(isTold || isDoubted ? 1 : 2);
    }
  }
  expect(doubts).toBeGreaterThanOrEqual(8);
  // What was in doubt is said once.
  for (const texts of Object.values((await failingRun()).texts)) {
    expect(texts).toHaveLength(1);
    expect(texts[0]).not.toMatch(DOUBT);
  }
});

it('a channel that was down is told which runs it missed', async () => {
  receivers.setDown(true);
  for (let times = 0; times < 7; times++) {
    const { ended } = await failingRun();
    expect(ended.err.match(/was not told: .*(503|down for repairs).*; the next run tells it/g)).toHaveLength(
      4,
    );
  }
  receivers.setDown(false);
  for (const texts of Object.values((await failingRun()).texts)) {
    expect(texts).toHaveLength(1);
    expect(texts[0]).toMatch(/^2 earlier runs ended, too/);
    expect(failures(texts[0] ?? '')).toBe(6);
    expect(texts[0]).toContain('This channel could not be told since');
  }
});

it('a channel whose state cannot be read is told of the run, and the run ends as it would', async () => {
  const path = join(folder.path, 'output', 'notified', 'chat.json');
  const kept = readFileSync(path);
  for (const spoil of [() => mkdirSync(path), () => writeFileSync(path, '{"snap')]) {
    rmSync(path, { recursive: true });
    spoil();
    const { ended, texts } = await failingRun();
    expect(ended.code).toBe(4);
    expect(ended.err).toMatch(/what the channel chat \(webhook\) was told of cannot be read/);
    expect(texts.chat.map(failures)).toEqual([1]);
  }
  rmSync(path, { recursive: true });
  writeFileSync(path, kept);
  expect((await failingRun()).texts.phone.map(failures)).toEqual([1]);
});

it('a channel that a process of another place holds is taken over, and told, before the run gives up', async () => {
  const killed = await failingRun({ LOTLAKE_KILL_AT: 'notify.noted' });
  expect(killed.ended.signal).toBe('SIGKILL');
  const lock = ['chat', 'phone', 'family', 'desk']
    .map((name) => join(folder.path, 'output', `lotlake.lock.${name}`))
    .find((path) => lstatSync(path, { throwIfNoEntry: false }) !== undefined);
  const holder = JSON.parse(readlinkSync(lock ?? ''));
  rmSync(lock ?? '');
  symlinkSync(JSON.stringify({ ...holder, place: 'a container that is gone' }), lock ?? '');
  const { texts } = await failingRun();
  for (const [name, found] of Object.entries(texts)) expect(found, name).toHaveLength(1);
});

it('two processes at once tell each run once', async () => {
  const all = await Promise.all([failingRun(), failingRun(), failingRun()]);
  const locked = all.filter(({ ended }) => ended.err.includes('LAKE_LOCKED')).length;
  expect(locked).toBeLessThan(3);
  const told = all.flatMap(({ texts }) => texts.chat);
  expect(told.reduce((sum, text) => sum + failures(text), 0)).toBe(3 - locked);
});
