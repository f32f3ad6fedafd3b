import type { Block } from './blocks.js';

/** Blocks that the suites of this folder do not run: a page, a word of the block, and why. */
const NOT_RUN: readonly (readonly [string, RegExp, string])[] = [
  ['README.md', /lotlake init/, 'needs the real service'],
  ['docs/run/care.md', /pull s3:/, 'needs object storage; test:engines pulls'],
  ['docs/run/care.md', /\/new\/place/, 'names a place of your own; test/cli/moved.test.ts moves a lake'],
  [
    'docs/run/sync.md',
    /sync site|createServer/,
    'needs a server of Postgres; test/engines and test/sync type them',
  ],
  ['docs/ask/changes.md', /readChanges/, 'the same as in library.md, which test:package compiles and runs'],
  ['docs/ask/library.md', /openLake/, 'test:package compiles and runs it'],
  ['docs/run/operate.md', /npm install --global/, 'needs root; test:package installs'],
  ['docs/run/operate.md', /lotlake sandbox {2,}#/, 'begins with a server that runs until it is stopped'],
  ['docs/run/care.md', /rsync/, 'needs another machine and object storage'],
  ['docs/change/sandbox.md', /startSandbox/, 'the suites of the sandbox call it so'],
  [
    'docs/run/scale.md',
    /s3|gs:|lake\.|lotlake\.|iceberg/,
    'needs engines and object storage; test:engines runs them',
  ],
];

/** Commands that are not run as they are typed, and why. */
const COMMANDS_NOT_RUN: readonly (readonly [RegExp, string])[] = [
  [/^npm ci/, 'the packages are here; the suite runs npm start with the clock that README names'],
];

/** Why a block is not run; undefined if it is. */
export const whyNotRun = ({ page, text }: Pick<Block, 'page' | 'text'>): string | undefined =>
  NOT_RUN.find(([where, word]) => where === page && word.test(text))?.[2];

/** Why a command is not run; undefined if it is. */
export const whyCommandNotRun = (command: string): string | undefined =>
  COMMANDS_NOT_RUN.find(([pattern]) => pattern.test(command))?.[1];

/** Exceptions that fit no block any more. */
export const idle = (blocks: readonly Block[]): string[] =>
  NOT_RUN.filter(([page, word]) => !blocks.some((block) => block.page === page && word.test(block.text))).map(
    ([page, word]) => `${page} ${word}`,
  );
