import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { blocksOf, shownIn } from './typed/blocks.js';
import { freshClone } from './typed/clone.js';

/** What a reader types in place of a line, because it is done, or names what is theirs. */
const INSTEAD: readonly (readonly [RegExp, (service: Sandbox) => string])[] = [
  // The clock that the page names for its figures.
  [/^npm ci && npm start/, () => 'npm start -- --clock 2026-11-20'],
  // The suite itself runs within `npm test`; test:package packs and installs.
  [/^npm ci && npm (test|pack)/, () => 'true'],
  [
    /^npx lotlake init/,
    ({ url }) =>
      `npx lotlake init && sed -i 's#// "baseUrl": "[^"]*"#"baseUrl": "${url}"#' lotlake.config.json`,
  ],
  [/LOTLAKE_API_KEY=…/, ({ apiKey }) => `(umask 077; echo 'LOTLAKE_API_KEY=${apiKey}' > .env)`],
  [/^npx lotlake run nightly/, () => 'LOTLAKE_RATE=1000 npx lotlake run nightly'],
];

const lines = blocksOf('README.md').flatMap(shownIn);
const clone = freshClone();
let service: Sandbox;
let typed: readonly string[];

/** Types all lines into one shell, with the npx of npm, and returns what each printed, with the exit code last. */
function typeAll(commands: readonly string[]): Promise<string[]> {
  const mark = 'end of a line';
  const script = commands.map((command) => `${command}\necho "$? ${mark}"\n`).join('');
  writeFileSync(join(clone.path, '..', 'typed.sh'), script);
  return new Promise((resolve) => {
    const shell = spawn('bash', ['../typed.sh'], {
      cwd: clone.path,
      env: { ...clone.env, PATH: process.env.PATH },
    });
    let out = '';
    for (const stream of [shell.stdout, shell.stderr]) stream.on('data', (piece) => (out += String(piece)));
    shell.on('close', () => resolve(out.split(` ${mark}\n`).slice(0, -1)));
  });
}

beforeAll(async () => {
  service = await startSandbox({ vehicles: 300, seed: 7, clock: new Date() });
  typed = await typeAll(
    lines.map(({ command }) => {
      const [, instead] = INSTEAD.find(([pattern]) => pattern.test(command)) ?? [];
      return instead?.(service) ?? command;
    }),
  );
}, 300_000);
afterAll(async () => {
  await service.close();
  clone.remove();
});

describe('README, typed from top to bottom into one shell', () => {
  it('ends every line well, and prints what it shows', () => {
    expect(typed).toHaveLength(lines.length);
    for (const [i, { command, output }] of lines.entries()) {
      expect(/(\d+)$/.exec(typed[i] ?? '')?.[1], `${command}\n${typed[i]}`).toBe('0');
      if (output !== undefined) expect(typed[i]).toContain(output.trim());
    }
  });

  it('leaves a lake of the sandbox and one of the service, each without an alarm', async () => {
    const status = ['output/sandbox', 'output'].map(
      (output) => `npx lotlake status --fail-on-alarm --output ${output}`,
    );
    for (const printed of await typeAll(status)) expect(printed).toMatch(/alarms: +none[\s\S]*\n0$/);
  }, 60_000);
});
