import { readConfig } from '../../config/config.js';
import { packageFile } from '../../config/package-root.js';
import { currentSnapshot, layoutOf } from '../../lake/layout.js';
import { allTables, readManifest } from '../../lake/manifest.js';
import { command } from '../command.js';
import type { Effects } from '../effects.js';

/**
 * Prints the script that completes command lines in a shell. It hands over the words up to the cursor, and offers files
 * where nothing comes back. yargs gives the form of its answer by `SHELL`, which names the login shell and not the one that
 * asks.
 */
export const completion = command({
  hasNoLake: true,
  options: { shell: { choices: ['bash', 'zsh', 'fish'], demandOption: true, describe: 'shell' } },
  run: ({ shell }, { out }) => out(packageFile(`site/completion.${shell}`)),
});

/** Names of the tables and marts that are published, for completion; none if that cannot be told. */
export function publishedTables(
  words: readonly string[],
  effects: Pick<Effects, 'env' | 'cwd'>,
): readonly string[] {
  const named = words.indexOf('--output');
  try {
    const config = readConfig({ output: named < 0 ? undefined : words[named + 1] }, effects);
    const snapshot = currentSnapshot(layoutOf(config.output));
    return snapshot === undefined ? [] : Object.keys(allTables(readManifest(snapshot)));
  } catch {
    return [];
  }
}
