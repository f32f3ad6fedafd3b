import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import xterm from '@xterm/headless';
import { afterAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/base/config/package-root.js';
import { startSandbox } from '../../src/sandbox/index.js';
import { CLI } from '../cli/support.js';
import { temporaryFolder } from '../pipelines/support.js';

/** If this is set, `docs/run/terminal.md` is written anew. Use it after a change of the terminal output. */
const IS_WRITTEN = process.env.LOTLAKE_WRITE_TERMINAL === '1';
const DOCUMENT = join(packageRoot, 'docs', 'run', 'terminal.md');

const ROWS = 45;

/** What a terminal showed of a command. */
interface Recording {
  readonly code: number | null;
  /** The screen at the end. */
  readonly last: string[];
  /** The line of the cursor after each piece of output, without repetitions. */
  readonly live: string[];
  /** Lines that at any moment continued in the next row. */
  readonly wrapped: string[];
  readonly bytes: string;
  readonly seconds: number;
}

/**
 * Runs a command in a pseudo-terminal and shows its output to a terminal emulator.
 * @param given.onLive is called with each new line at the cursor
 */
async function record(
  args: readonly string[],
  given: {
    readonly columns: number;
    readonly env?: NodeJS.ProcessEnv;
    readonly onLive?: (line: string, press: (keys: string) => void) => void;
  },
): Promise<Recording> {
  const { columns, env = {}, onLive } = given;
  const screen = new xterm.Terminal({ cols: columns, rows: ROWS, allowProposedApi: true });
  const { CI: _, NO_COLOR: __, ...rest } = process.env;
  const command = [process.execPath, CLI, ...args].join(' ');
  const child = spawn(
    'script',
    ['-qefc', `stty cols ${columns} rows ${ROWS} && exec ${command}`, '/dev/null'],
    { cwd: folder.path, env: { ...rest, TERM: 'xterm-256color', ...env } },
  );
  const live: string[] = [];
  const wrapped = new Set<string>();
  let bytes = '';
  let drawn = Promise.resolve();
  child.stdout.setEncoding('utf8').on('data', (piece: string) => {
    bytes += piece;
    drawn = drawn.then(async () => {
      await new Promise<void>((resolve) => screen.write(piece, resolve));
      const { active } = screen.buffer;
      for (const { text, isWrapped } of linesOf(screen)) if (isWrapped) wrapped.add(text);
      const line = active.getLine(active.baseY + active.cursorY)?.translateToString(true) ?? '';
      if (line === '' || line === live.at(-1)) return;
      live.push(line);
      onLive?.(line, (keys) => child.stdin.write(keys));
    });
  });
  const started = performance.now();
  const [code] = await once(child, 'close');
  const seconds = (performance.now() - started) / 1000;
  await drawn;
  const last = linesOf(screen).map(({ text }) => text);
  return {
    code,
    last: last.slice(0, last.findLastIndex((text) => text !== '') + 1),
    live,
    wrapped: [...wrapped],
    bytes,
    seconds,
  };
}

function linesOf({ buffer: { active } }: InstanceType<typeof xterm.Terminal>) {
  return Array.from({ length: active.length }, (_, i) => {
    const line = active.getLine(i);
    return { text: line?.translateToString(true) ?? '', isWrapped: line?.isWrapped === true };
  });
}

const folder = temporaryFolder();
const sandbox = await startSandbox({ vehicles: 1500, seed: 1, clock: new Date() });
afterAll(async () => {
  await sandbox.close();
  folder.remove();
});

const NIGHT = ['run', 'nightly'];
/** 31 pages of the feed. */
const SERVICE = {
  ...{ LOTLAKE_BASE_URL: sandbox.url, LOTLAKE_API_KEY: sandbox.apiKey, LOTLAKE_OUTPUT: folder.path },
  ...{ LOTLAKE_PER_PAGE: '50', LOTLAKE_CONCURRENCY: '1' },
};
/** The pages take 15 seconds. */
const SLOW = { ...SERVICE, LOTLAKE_RATE: '2' };
const SCROLL = { LOTLAKE_PAGING: 'scroll' };

/**
 * A recording without the parts that may differ from night to night: figures, bars, and rates, which steps below a
 * second lack.
 */
const shapeOf = (text: string): string =>
  text
    .replaceAll(/[█░]+/g, '█')
    .replaceAll(/, [\d,.]+K?( records)?\/s|, \d+ MB/g, '')
    .replaceAll(/\b(page|record)s\b/g, '$1')
    .replaceAll(/\b\d+ min \d+ s|\d+ h \d+ min|\d+(\.\d)? s\b/g, 'time')
    .replaceAll(/-[0-9a-f]{6}\b/g, '-id')
    .replaceAll(/\d[\d,.]*[KM]?/g, '#')
    .replaceAll(/price_\w+/g, 'mart')
    .replaceAll(/ +/g, ' ');

/** Every escape sequence that a terminal received. */
const escapes = ({ bytes }: Recording): string[] => [...new Set(bytes.match(/\u001b\[?[^a-zA-Z]*[a-zA-Z]/g))];

const moment = ({ live }: Recording, like: RegExp): string =>
  live.find((line) => like.test(line)) ?? expect.fail(`no line is like ${like}:\n${live.join('\n')}`);

/** The recordings as a page. */
function pageOf(recordings: readonly { readonly title: string; readonly recording: Recording }[]): string {
  const shown = recordings.map(({ title, recording }) => {
    const moments = [/^cars .*\/s, .*left$/, /^merging/, /^computing price_\w+, \d+ of/].map((like) =>
      moment(recording, like),
    );
    const block = (lines: readonly string[]): string => `\`\`\`\n${lines.join('\n')}\n\`\`\``;
    return `## ${title}\n\nMoments of the last line:\n\n${block(moments)}\n\nThe screen at the end:\n\n${block(recording.last)}\n`;
  });
  // The page is for those who have lotlake installed; the recording is of a clone.
  return `${HEAD}\n${shown.join('\n')}`.replaceAll('npx lotlake', 'lotlake');
}

const HEAD =
  readFileSync(DOCUMENT, 'utf8')
    .split(/^## \d+ columns/m)[0]
    ?.trimEnd()
    .concat('\n') ?? '';

describe('lotlake run on a terminal', () => {
  it('shows one line per stream and per step, which never wrap, as docs/run/terminal.md has them', async () => {
    const first = await record(NIGHT, { columns: 80, env: { ...SERVICE, ...SCROLL, LOTLAKE_RATE: '1000' } });
    expect(first.code, first.bytes).toBe(0);
    const narrow = await record(NIGHT, { columns: 60, env: { ...SLOW, NO_COLOR: '1' } });
    const wide = await record(NIGHT, { columns: 120, env: { ...SLOW, ...SCROLL } });
    for (const recording of [first, narrow, wide]) {
      expect(recording.code, recording.bytes).toBe(0);
      expect(recording.wrapped).toEqual([]);
      // There is no colour, and the cursor is never hidden.
      expect(escapes(recording)).toEqual(['\u001b[K']);
      expect(recording.bytes.split('\u001b[K').length / recording.seconds).toBeLessThan(12);
    }
    const page = pageOf([
      { title: '60 columns', recording: narrow },
      { title: '120 columns, on the scroll form of the feed, which has no totals', recording: wide },
    ]);
    if (IS_WRITTEN) writeFileSync(DOCUMENT, page);
    expect(shapeOf(page)).toBe(shapeOf(readFileSync(DOCUMENT, 'utf8')));
  }, 300_000);

  it('leaves the terminal in order when interrupted, and restarts the time estimate when resumed', async () => {
    let pressed = false;
    const interrupted = await record(NIGHT, {
      columns: 80,
      env: SLOW,
      onLive(line, press) {
        if (pressed || !/^cars +1[5-9] of/.test(line)) return;
        pressed = true;
        press('\u0003');
      },
    });
    expect(interrupted.code).toBe(130);
    expect(interrupted.last.join('\n')).toMatch(/^cars .* of 31 pages, .*stopped after [\d.]+ s$/m);
    expect(interrupted.last.join('\n')).toMatch(/^interrupted: the last snapshot stays current/m);
    expect(escapes(interrupted)).toEqual(['\u001b[K']);
    const resumed = await record(NIGHT, { columns: 80, env: SLOW });
    expect(resumed.code).toBe(0);
    const rates = resumed.live
      .flatMap((line) => /^cars .* (\d+) records\/s/.exec(line)?.[1] ?? [])
      .map(Number);
    expect(rates.length).toBeGreaterThan(5);
    expect(Math.max(...rates)).toBeLessThan(300);
    expect(resumed.last.join('\n')).toMatch(/^resuming pass \S+ of cars with \d+ pages$/m);
  }, 300_000);

  it('is a log of lines on a dumb terminal', async () => {
    const { code, bytes } = await record(NIGHT, {
      columns: 60,
      env: { ...SERVICE, LOTLAKE_RATE: '1000', TERM: 'dumb' },
    });
    expect(code).toBe(0);
    expect(bytes).not.toContain('\u001b');
    expect(bytes).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ extract {4}cars\r$/m);
  }, 300_000);
});
