import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/base/config/package-root.js';

/** A fenced block of a page. */
export interface Block {
  /** Path below the package, such as `docs/ask/export.md`. */
  readonly page: string;
  /** Line of its fence, from 1. */
  readonly line: number;
  /** The word behind the fence; empty if there is none. */
  readonly language: string;
  readonly text: string;
}

/** A command of a page with the output that the page shows; undefined if it shows none. */
export interface Shown {
  readonly command: string;
  readonly output: string | undefined;
}

/** The shelves of docs. */
const SHELVES: readonly string[] = ['ask', 'change', 'run'];

/** Pages that the build writes: tables of names, without commands. */
const MADE: readonly string[] = ['docs/ask/tables.md', 'docs/run/settings.md'];

/** README and the pages of the shelves, README first. */
export const PAGES: readonly string[] = [
  'README.md',
  ...SHELVES.flatMap((shelf) =>
    readdirSync(join(packageRoot, 'docs', shelf))
      .filter((name) => name.endsWith('.md'))
      .map((name) => `docs/${shelf}/${name}`),
  ).filter((page) => !MADE.includes(page)),
];

const FENCE = /^( *)```(\w*)\n(.*?)^\1```$/gms;

/** The text of a page. */
const pageText = (page: string): string => readFileSync(join(packageRoot, page), 'utf8');

/** The fenced blocks of a page, in order. */
export function blocksOf(page: string): Block[] {
  const text = pageText(page);
  return [...text.matchAll(FENCE)].map(({ index, 2: language = '', 3: inside = '' }) => {
    return { page, line: text.slice(0, index).split('\n').length, language, text: inside };
  });
}

/** The inline code of a page, on one line each, without the code in fenced blocks. */
export const inlineOf = (page: string): string[] =>
  [
    ...pageText(page)
      .replaceAll(FENCE, '')
      .matchAll(/`([^`]+)`/g),
  ].map(([, code = '']) => code.replaceAll(/\s+/g, ' '));

/**
 * The commands of a block. Each line of `sh` is one, with the lines that a backslash continues. In `console` a command is
 * behind `$ `, and the lines up to the next one are its output.
 */
export function shownIn({ language, text }: Block): Shown[] {
  if (language === 'sh')
    return text
      .replaceAll('\\\n', '')
      .split('\n')
      .filter((line) => line.trim() !== '' && !line.startsWith('#'))
      .map((command) => ({ command, output: undefined }));
  if (language !== 'console') return [];
  return text
    .split(/^\$ /m)
    .slice(1)
    .map((part) => {
      const [command = '', ...output] = part.split('\n');
      return { command, output: output.join('\n') };
    });
}

/** The calls of lotlake in a text of a shell, each as its words. Quoted text is one word, and a comment is none. */
export function callsIn(command: string): string[][] {
  const calls: string[][] = [];
  let call: string[] | undefined;
  let begins = true;
  for (const [token, single, double] of command.matchAll(/'([^']*)'|"([^"]*)"|&&|[;|()]|[^\s;|()'"]+/g)) {
    if (token.startsWith('#')) break;
    if (/^(&&|[;|()])$/.test(token)) call = undefined;
    else call?.push(single ?? double ?? token);
    if (begins && token === 'lotlake') {
      call = [];
      calls.push(call);
    }
    begins = /^(&&|[;|()]|npx|\w+=.*)$/.test(token);
  }
  return calls;
}
