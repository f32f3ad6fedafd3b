import { readConfig } from '../../config/config.js';
import { currentSnapshot, layoutOf } from '../../lake/layout.js';
import { allTables, readManifest } from '../../lake/manifest.js';
import { command } from '../command.js';
import type { Effects } from '../effects.js';

/**
 * A script for each shell. It hands over the words up to the cursor, and offers files where nothing comes back. yargs
 * gives the form of its answer by `SHELL`, which names the login shell and not the one that asks.
 */
const SCRIPTS = {
  bash: `# In ~/.bashrc: eval "$(lotlake completion bash)"
_lotlake() {
  local IFS=$'\\n' found
  found=$(SHELL=bash lotlake --get-yargs-completions "\${COMP_WORDS[@]:0:COMP_CWORD+1}" 2>/dev/null)
  COMPREPLY=($(compgen -W "$found" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o bashdefault -o default -F _lotlake lotlake
`,
  zsh: `# In ~/.zshrc, after compinit: eval "$(lotlake completion zsh)"
_lotlake() {
  local -a found
  found=("\${(@f)$(SHELL=zsh lotlake --get-yargs-completions "\${(@)words[1,CURRENT]}" 2>/dev/null)}")
  if [[ -n "$found" ]]; then _describe lotlake found; else _files; fi
}
compdef _lotlake lotlake
`,
  fish: `# In ~/.config/fish/config.fish: lotlake completion fish | source
function __lotlake
  set -l found (SHELL=fish lotlake --get-yargs-completions (commandline -opc) (commandline -ct) 2>/dev/null)
  if test (count $found) -gt 0
    printf '%s\\n' $found
  else
    __fish_complete_path (commandline -ct)
  end
end
complete -c lotlake -f -a '(__lotlake)'
`,
};

/** Prints the script that completes command lines in a shell. */
export const completion = command({
  hasNoLake: true,
  options: { shell: { choices: ['bash', 'zsh', 'fish'], demandOption: true, describe: 'shell' } },
  run: ({ shell }, { out }) => out(SCRIPTS[shell]),
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
