import { withDatabase } from '../../ask/query/open-lake.js';
import { readFolder } from '../../base/config/folder.js';
import { count, megabytes } from '../../base/config/printable.js';
import { describeCopy } from '../../beyond/iceberg/local-metadata.js';
import { type Backup, backUp } from '../../beyond/keep/copy-lake.js';
import { layoutOf } from '../../core/lake/layout.js';
import { dictionary } from '../../core/model/dictionary.js';
import { command, type Lines } from '../command.js';
import { whileLocked } from '../while-locked.js';

/** Copies the lake to another folder while no run works on it, and says what the copy holds. */
export const backup = command({
  options: {
    to: { type: 'string', demandOption: true, describe: 'folder to make' },
    force: { type: 'boolean', default: false, describe: 'replace an earlier backup' },
  },
  async run({ to: folder, force, print, config }, effects) {
    const to = readFolder('--to', folder, effects.cwd);
    const { now, signal } = effects;
    await whileLocked(config, 'backup', effects, async () => {
      const layout = layoutOf(config.output);
      const made = await withDatabase(config, undefined, ({ session: { connection } }) => {
        const describe = (copy: string) => describeCopy(connection, layout, { copy, place: to }, dictionary);
        return backUp(connection, layout, { to, force, now: now(), signal, describe });
      });
      print(made, () => text(made));
    });
  },
});

function text(made: Backup): Lines {
  const links = `${count(made.links)} of them further names of the others`;
  return [
    `${count(made.files)} files (${links}), ${megabytes(made.bytes)}, ${made.snapshots} snapshots; current: ${made.snapshot_id ?? 'none'}`,
    made.left_out.length > 0 && `left out, never finished or not sound: ${made.left_out.join(', ')}`,
    `sound, in ${made.path}`,
  ];
}
