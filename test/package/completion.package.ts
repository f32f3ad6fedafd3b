import { spawnSync } from 'node:child_process';
import { chmodSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { CLI } from '../cli/support.js';
import { call, sharedFolder } from './support.js';

const folder = sharedFolder();
afterAll(() => folder.remove());
writeFileSync(join(folder.path, 'lotlake'), `#!/bin/sh\nexec '${process.execPath}' '${CLI}' "$@"\n`);
chmodSync(join(folder.path, 'lotlake'), 0o755);
// The login shell differs from the shell that asks.
const env = { PATH: [folder.path, process.env.PATH].join(delimiter), HOME: folder.path, SHELL: '/bin/other' };

/** Scripts that ask each shell for completions. The last word is under the cursor. */
const ASKS: Readonly<Record<string, (words: readonly string[]) => string>> = {
  bash: (words) =>
    `eval "$(lotlake completion bash)"; COMP_WORDS=(${quoted(words)}); COMP_CWORD=${words.length - 1}; _lotlake; printf '%s\\n' "\${COMPREPLY[@]}"`,
  // Replaces the widget of the line editor, and prints what it would offer.
  zsh: (words) =>
    `compdef() { : }; _describe() { print -l -- \${(P)2} }; _files() { print files }; eval "$(lotlake completion zsh)"; words=(${quoted(words)}); CURRENT=${words.length}; _lotlake`,
  fish: (words) => `lotlake completion fish | source; complete -C '${words.join(' ')}'`,
};

const quoted = (words: readonly string[]): string => words.map((word) => `'${word}'`).join(' ');

describe.each(Object.entries(ASKS))('completion in %s', (shell, ask) => {
  const isThere = spawnSync(shell, ['-c', 'exit 0']).status === 0;
  if (!isThere) process.stderr.write(`${shell} is not installed: its completion is not tried\n`);

  const offered = (...words: string[]): string[] =>
    call({ cwd: folder.path, env }, shell, '-c', ask(words))
      .trim()
      .split('\n')
      // zsh and fish also print descriptions.
      .map((line) => line.split(/[:\t]/)[0] ?? '');

  it.runIf(isThere)('offers commands, pipelines, options and their values', () => {
    expect(offered('lotlake', 'que')).toContain('query');
    expect(offered('lotlake', 'run', 'n')).toEqual(['nightly']);
    expect(offered('lotlake', 'run', 'nightly', '--allow')).toContain('--allow-shrink');
    expect(offered('lotlake', 'query', '--format', 'pa')).toEqual(['parquet']);
    expect(offered('lotlake', 'completion', 'z')).toEqual(['zsh']);
  });
});
