import type { Beside } from '../core/job/beside.js';

/** Observers of runs, and Iceberg metadata. Each is loaded when a run needs it. */
export const beside: Beside = {
  observe: async (options) => (await import('./notify/observers.js')).openObservers(options),
  async describe(connection, snapshots) {
    const { writeLocalMetadata } = await import('./iceberg/local-metadata.js');
    const { dictionary } = await import('../core/model/dictionary.js');
    const last = snapshots.at(-1);
    if (last !== undefined) await writeLocalMetadata(connection, snapshots, dictionary(last.manifest));
  },
};
