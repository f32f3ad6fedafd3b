import { withDatabase } from '../../ask/query/open-lake.js';
import { fittedGrid, gridOf } from '../../ask/query/table.js';
import { type Config, readConfig } from '../../base/config/config.js';
import { counted, megabytes, printable } from '../../base/config/printable.js';
import { retainLocalMetadata } from '../../beyond/iceberg/local-metadata.js';
import { assertLake, executeVacuum, planVacuum, type VacuumPlan } from '../../beyond/keep/vacuum-lake.js';
import { updateCatalog } from '../../beyond/mirror/mirror-tables.js';
import { type RemoteVacuum, vacuumMirror } from '../../beyond/mirror/vacuum-mirror.js';
import { assertUnbroken } from '../../core/lake/broken-link.js';
import { currentSnapshot, layoutOf } from '../../core/lake/layout.js';
import { mendViews } from '../../core/lake/views.js';
import { command, type Lines } from '../command.js';
import type { Effects } from '../effects.js';
import { mirrorOptions, openMirror } from '../mirror.js';
import { streamOf } from '../option-values.js';
import { UsageError } from '../usage-error.js';
import { whileLocked } from '../while-locked.js';

/** Removes snapshots and passes past retention, and leftovers of dead runs, and says how much that frees. */
export const vacuum = command({
  options: {
    'dry-run': { type: 'boolean', default: false, describe: 'say it, remove nothing' },
    remote: { type: 'boolean', default: false, describe: 'vacuum the mirror, and not this lake' },
    ...mirrorOptions,
  },
  async run({ dryRun, remote, to, endpoint, region, pathStyle, print, input }, effects) {
    const publish = { to, endpoint, region, pathStyle };
    if (!remote && Object.values(publish).some((value) => value !== undefined))
      throw new UsageError(
        '--to, --endpoint, --region and --path-style stand without --remote',
        'add --remote to vacuum the mirror; nothing was removed',
      );
    const config = readConfig({ ...input, publish }, effects);
    for (const name of Object.keys(config.keepPasses)) streamOf(name, 'keepPasses');
    if (remote) {
      const vacuumed = await vacuumRemote(config, effects, dryRun);
      return print({ dry_run: dryRun, ...vacuumed }, () => remoteText(vacuumed, dryRun));
    }
    const layout = layoutOf(config.output);
    assertLake(layout);
    assertUnbroken(layout);
    await whileLocked(config, 'vacuum', effects, async () => {
      const plan = await withDatabase(config, effects.signal, async ({ session: { connection } }) => {
        const published = currentSnapshot(layout);
        if (published !== undefined && !dryRun) await mendViews(connection, layout, published);
        return planVacuum(connection, layout, config);
      });
      // An interrupted plan may lack something that has to stay.
      effects.signal.throwIfAborted();
      if (!dryRun) {
        // On a full disk this may fail until something is removed.
        const isRetained = await retainLocalMetadata(layout, plan).then(
          () => true,
          () => false,
        );
        await executeVacuum(layout, plan, effects.signal);
        if (!isRetained) await retainLocalMetadata(layout, plan);
      }
      print({ dry_run: dryRun, ...plan }, () => text(plan, dryRun));
    });
  },
});

/** Removes from the mirror what is past retention. The local lake does not matter. */
async function vacuumRemote(config: Config, { now, signal, env, err }: Effects, isDryRun: boolean) {
  const { place, store } = await openMirror(config, signal);
  const warn = (message: string): void => err(`warning    ${message}\n`);
  const vacuumed = await vacuumMirror({ store, keep: config, now, warn, isDryRun });
  if (!isDryRun) await updateCatalog(place, store, env);
  return vacuumed;
}

function remoteText({ place, snapshots, objects, bytes, kept }: RemoteVacuum, dryRun: boolean): Lines {
  const table = snapshots.map(({ snapshot_id, reason }) => ['snapshot', snapshot_id, printable(reason)]);
  return [
    snapshots.length === 0 ? 'no snapshot to remove' : gridOf(['what', 'id', 'why'], table),
    `${place}: removes ${objects} objects that no snapshot names (${megabytes(bytes)}); stays: ${kept.snapshots} snapshots, ${kept.objects} objects`,
    dryRun && 'dry run: nothing was removed',
  ];
}

function text({ removals, unreadable, staying, freed, kept }: VacuumPlan, dryRun: boolean): Lines {
  // The folder says what it is.
  const table = removals.map(({ path, bytes, freed: frees, reason }) => [
    ...[path, megabytes(bytes), megabytes(frees), printable(reason)],
  ]);
  return [
    removals.length === 0 ? 'nothing to remove' : fittedGrid(['folder', '>size', '>frees', 'why'], table),
    ...unreadable.map(({ path, reason }) => `left as it is: ${path}: ${printable(reason)}`),
    staying.length > 0 &&
      `stays past retention: ${staying[0]}${staying.length === 1 ? '' : ` and ${counted(staying.length - 1, 'pass', 'passes')} after it`}, since a delta that is kept builds on it`,
    `frees ${megabytes(freed)} (${freed} bytes); stays: ${kept.snapshots} snapshots, ${kept.passes} passes`,
    dryRun && 'dry run: nothing was removed',
  ];
}
