import { withDatabase } from '../../ask/query/open-lake.js';
import { readConfig } from '../../base/config/config.js';
import { assertWritable } from '../../base/config/folder.js';
import { count, megabytes } from '../../base/config/printable.js';
import { pullLanding } from '../../beyond/mirror/landing.js';
import { pull as pullLake } from '../../beyond/mirror/pull-snapshot.js';
import { layoutOf } from '../../core/lake/layout.js';
import { command, type Lines } from '../command.js';
import { landingText, mirrorOptions, openMirror } from '../mirror.js';
import { whileLocked } from '../while-locked.js';

/** Makes the lake of an output folder from its mirror in object storage. */
export const pull = command({
  options: {
    ...mirrorOptions,
    landing: { type: 'boolean', describe: 'fetch the passes of landing that the mirror has, too' },
  },
  async run({ to, endpoint, region, pathStyle, landing, print, input }, effects) {
    const publish = { to, endpoint, region, pathStyle, landing };
    const config = readConfig({ ...input, publish }, effects);
    const { place, store } = await openMirror(config, effects.signal);
    assertWritable('the output folder', config.output);
    const layout = layoutOf(config.output);
    const warn = (message: string): void => effects.err(`warning    ${message}\n`);
    await whileLocked(config, 'pull', effects, async () => {
      const pulled = await withDatabase(config, undefined, ({ session }) =>
        pullLake(session.connection, layout, store, warn),
      );
      const passes = place.landing ? await pullLanding(layout.landing, store) : null;
      print({ ...pulled, landing: passes }, () => text(pulled, passes));
    });
  },
});

function text(
  { place, snapshot_id, path, files, bytes }: Awaited<ReturnType<typeof pullLake>>,
  landing: Awaited<ReturnType<typeof pullLanding>> | null,
): Lines {
  const fetched = `${count(files)} files (${megabytes(bytes)}) fetched`;
  return [
    `snapshot ${snapshot_id} of ${place} is current: ${fetched}`,
    `  ${path}`,
    landing !== null && `${landingText(landing)} fetched`,
  ];
}
