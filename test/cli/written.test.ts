import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/base/config/package-root.js';
import { escapeControls, printable } from '../../src/base/config/printable.js';

const ACTING = [
  ...Array.from({ length: 32 }, (_, code) => code).filter((code) => code !== 9 && code !== 10),
  ...Array.from({ length: 33 }, (_, i) => 0x7f + i),
  ...[0x61c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e, 0x2066, 0x2069, 0xfeff],
].map((code) => String.fromCharCode(code));

describe('a text for people', () => {
  it.each(ACTING.map((character) => [JSON.stringify(character).slice(1, -1), character]))(
    'has no %s that acts on a terminal',
    (_, character) => {
      const code = character.charCodeAt(0).toString(16).padStart(4, '0');
      expect(escapeControls(`a\n\t${character}ü🚗`)).toBe(`a\n\t\\u${code}ü🚗`);
      expect(printable(`a\n\t${character}ü🚗`)).toBe('a   ü🚗');
    },
  );

  it('keeps its value as JSON', () => {
    const value = { text: `a${ACTING.join('')}b`, lines: 'a\r\nb' };
    expect(JSON.parse(escapeControls(JSON.stringify(value)))).toEqual(value);
  });

  it('shows a terminal sequence as text', () => {
    expect(escapeControls('\u001b]0;title\u0007\u001b[2Jdone\r')).toBe(
      '\\u001b]0;title\\u0007\\u001b[2Jdone\\u000d',
    );
  });
});

describe('the streams of the process', () => {
  /** Sources that may name the streams: those that write to them, and those that ask how wide they are. */
  const NAMED: Readonly<Record<string, readonly string[]>> = {
    'src/cli/main.ts': [
      ...['process.stderr', 'process.stderr.columns', 'process.stderr.isTTY'],
      ...['process.stdout', 'process.stdout.columns'],
    ],
    // Names the point at which a test ends a run.
    'src/base/config/kill-point.ts': ['writeSync(2,'],
  };

  it('are used only in the known files', () => {
    const folders = ['src', 'pipelines'];
    const files = folders.flatMap((folder) =>
      readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
        .filter((name) => name.endsWith('.ts'))
        .map((name) => join(folder, name)),
    );
    const named = files.flatMap((file) => {
      const code = readFileSync(join(packageRoot, file), 'utf8');
      const uses = code.match(/process\.std(?:out|err)(?:\.\w+)?|\bconsole\.\w+|writeSync\([12],/g) ?? [];
      return uses.length === 0 ? [] : [[file, [...new Set(uses)].sort()] as const];
    });
    expect(Object.fromEntries(named)).toEqual(
      Object.fromEntries(Object.entries(NAMED).map(([file, uses]) => [file, [...uses].sort()])),
    );
  });
});
