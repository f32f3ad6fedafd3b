import { readConfig } from '../../base/config/config.js';
import { packageFile } from '../../base/config/package-root.js';
import { currentSnapshot, layoutOf } from '../../core/lake/layout.js';
import { allNames, readManifest } from '../../core/lake/manifest.js';
import { command } from '../command.js';
import type { Effects } from '../effects.js';

/**
 * Prints the script that completes command lines in a shell. The script passes on the words up to the cursor, and offers
 * files if no word comes back. It also sets `SHELL`, by which yargs chooses the format of its answer, since that names the
 * login shell and not the shell at work.
 */
export const completion = command({
  hasNoLake: true,
  options: { shell: { choices: ['bash', 'zsh', 'fish'], demandOption: true, describe: 'shell' } },
  run: ({ shell }, { out }) => out(packageFile(`site/completion.${shell}`)),
});

/** Names of the published tables and marts, for completion; none if they cannot be read. */
export function publishedTables(
  words: readonly string[],
  effects: Pick<Effects, 'env' | 'cwd'>,
): readonly string[] {
  const named = words.indexOf('--output');
  try {
    const config = readConfig({ output: named < 0 ? undefined : words[named + 1] }, effects);
    const snapshot = currentSnapshot(layoutOf(config.output));
    return snapshot === undefined ? [] : allNames(readManifest(snapshot));
  } catch {
    return [];
  }
}
