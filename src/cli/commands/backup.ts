import { type ConfigInput, readConfig } from '../../config/config.js';
import { readFolder } from '../../config/folder.js';
import { openTemporarySession } from '../../duck/temporary-session.js';
import { type Backup, backUp } from '../../lake/backup.js';
import { layoutOf } from '../../lake/layout.js';
import { takeLock } from '../../lake/lock.js';
import type { Effects } from '../effects.js';
import { megabytes, number } from '../grid.js';

/** Copies the lake to another folder while no run is at work, and says what the copy holds. */
export async function backup(
  options: {
    readonly to: string;
    readonly force: boolean;
    readonly json: boolean;
    readonly config: ConfigInput;
  },
  effects: Effects,
): Promise<void> {
  const config = readConfig(options.config, effects);
  const to = readFolder('--to', options.to, effects.cwd);
  const layout = layoutOf(config.output);
  const lock = await takeLock(layout.lock, {
    ...{ pipeline: 'backup', now: effects.now(), lease: config.lease, signal: effects.signal },
    onWait: (message) => effects.err(`${message}\n`),
  });
  try {
    const opened = await openTemporarySession(config);
    const { force } = options;
    const { now, signal } = effects;
    const made = await backUp(opened.session.connection, layout, { to, force, now: now(), signal }).finally(
      opened.close,
    );
    effects.out(options.json ? `${JSON.stringify(made)}\n` : text(made));
  } finally {
    lock.release();
  }
}

function text(made: Backup): string {
  const links = `${number(made.links)} of them further names of the others`;
  return [
    `${number(made.files)} files (${links}), ${megabytes(made.bytes)}, ${made.snapshots} snapshots; current: ${made.snapshot_id ?? 'none'}`,
    ...(made.left_out.length === 0
      ? []
      : [`left out, never finished or not sound: ${made.left_out.join(', ')}`]),
    `sound, in ${made.path}`,
    '',
  ].join('\n');
}
