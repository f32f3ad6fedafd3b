import { lstatSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { ConfigError } from './lotlake-error.js';

/** Bits of a mode: everyone may write; and in a folder such as /tmp, each only to what is theirs. */
const BY_EVERYONE = 0o002;
const STICKY = 0o1000;

/** Users whose files count as those of this process: its own, root, and who called sudo. */
function trustedUsers(env: NodeJS.ProcessEnv): readonly (number | undefined)[] {
  const own = process.getuid?.();
  return [own, 0, own === 0 && env.SUDO_UID !== undefined ? Number(env.SUDO_UID) : undefined];
}

/**
 * Throws ConfigError if others decide what a file or folder says that was found and not named: another user owns it, or
 * everyone can write to it or to its folder. Settings say where the key is sent, and models what a night computes.
 * @param advice how to name it
 */
export function assertTrusted(path: string, env: NodeJS.ProcessEnv, advice: string): void {
  // Windows has no such owners and modes.
  if (process.getuid === undefined) return;
  const users = trustedUsers(env);
  // A link may lead nowhere, as the lock files of some editors do.
  for (const found of [lstatSync(path), statSync(path, { throwIfNoEntry: false })]) {
    if (found === undefined) continue;
    if (!users.includes(found.uid)) throw refused(path, `belongs to another user (uid ${found.uid})`, advice);
    if (!found.isSymbolicLink() && (found.mode & BY_EVERYONE) !== 0)
      throw refused(path, 'can be written by everyone', advice);
  }
  const folder = statSync(dirname(path));
  if ((folder.mode & BY_EVERYONE) !== 0 && (folder.mode & STICKY) === 0)
    throw refused(path, 'lies in a folder that everyone can write to', advice);
}

/** {@link assertTrusted} for a folder and all that is in it. */
export function assertAllTrusted(folder: string, env: NodeJS.ProcessEnv, advice: string): void {
  assertTrusted(folder, env, advice);
  for (const name of readdirSync(folder, { recursive: true }))
    assertTrusted(join(folder, String(name)), env, advice);
}

const refused = (path: string, problem: string, advice: string): ConfigError =>
  new ConfigError(`${path} was found, and it ${problem}`, `nothing was sent; if you trust it, ${advice}`);
