import type { Config } from '../base/config/config.js';
import { lockLake } from '../core/job/lock-lake.js';
import { layoutOf } from '../core/lake/layout.js';
import type { Effects } from './effects.js';

/** Holds the lock of a lake during some work, so that no run changes it. */
export async function whileLocked<T>(
  config: Config,
  pipeline: string,
  effects: Effects,
  work: () => Promise<T>,
): Promise<T> {
  const lock = await lockLake(layoutOf(config.output), {
    pipeline,
    now: effects.now(),
    lease: config.lease,
    signal: effects.signal,
    onWait: (message) => effects.err(`${message}\n`),
  });
  try {
    return await work();
  } finally {
    lock.release();
  }
}
