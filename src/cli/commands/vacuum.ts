import { type Config, type ConfigInput, readConfig } from '../../config/config.js';
import { DEFAULT_PASSES } from '../../config/settings.js';
import { interruptOn } from '../../duck/session.js';
import { openTemporarySession } from '../../duck/temporary-session.js';
import { layoutOf } from '../../lake/layout.js';
import { takeLock } from '../../lake/lock.js';
import { assertLake, executeVacuum, planVacuum, type Retention, type VacuumPlan } from '../../lake/vacuum.js';
import { printable } from '../../query/printable.js';
import type { StreamName } from '../../service/streams.js';
import type { Effects } from '../effects.js';
import { gridOf, megabytes } from '../grid.js';
import { streamOf } from '../stream-name.js';

/** Removes snapshots and passes that are past retention and what dead runs left, and says what that frees. */
export async function vacuum(
  options: { readonly dryRun: boolean; readonly json: boolean; readonly config: ConfigInput },
  effects: Effects,
): Promise<void> {
  const config = readConfig(options.config, effects);
  const layout = layoutOf(config.output);
  const retention = retentionOf(config);
  assertLake(layout);
  const lock = await takeLock(layout.lock, {
    ...{ pipeline: 'vacuum', now: effects.now(), lease: config.lease, signal: effects.signal },
    onWait: (message) => effects.err(`${message}\n`),
  });
  try {
    const opened = await openTemporarySession(config);
    const endInterrupts = interruptOn(effects.signal, opened.session);
    const plan = await planVacuum(opened.session.connection, layout, retention).finally(() => {
      endInterrupts();
      opened.close();
    });
    // A plan that was interrupted does not know all that is needed.
    effects.signal.throwIfAborted();
    if (!options.dryRun) await executeVacuum(layout, plan, effects.signal);
    const report = { dry_run: options.dryRun, ...plan };
    effects.out(options.json ? `${JSON.stringify(report)}\n` : text(plan, options.dryRun));
  } finally {
    lock.release();
  }
}

function retentionOf({ keepSnapshots, keepDays, keepPasses }: Config): Retention {
  const kept = { snapshots: keepSnapshots, days: keepDays };
  if (typeof keepPasses === 'number') return { ...kept, passes: () => keepPasses };
  for (const name of Object.keys(keepPasses)) streamOf(name, 'keepPasses');
  return { ...kept, passes: (stream: StreamName) => keepPasses[stream] ?? DEFAULT_PASSES };
}

function text({ removals, unreadable, freed, kept }: VacuumPlan, dryRun: boolean): string {
  const grid = gridOf(['what', 'folder', '>size', '>frees', 'why']);
  for (const { kind, path, bytes, freed, reason } of removals)
    grid.push([kind, path, megabytes(bytes), megabytes(freed), printable(reason)]);
  return [
    ...(removals.length === 0 ? ['nothing to remove'] : [grid.toString()]),
    ...unreadable.map(({ path, reason }) => `left as it is: ${path}: ${printable(reason)}`),
    `frees ${megabytes(freed)} (${freed} bytes); stays: ${kept.snapshots} snapshots, ${kept.passes} passes`,
    ...(dryRun ? ['dry run: nothing was removed'] : []),
    '',
  ].join('\n');
}
