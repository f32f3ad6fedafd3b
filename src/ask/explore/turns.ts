import { LotlakeError } from '../../base/config/lotlake-error.js';

/** Waits for a turn, and returns the function that ends it. Throws EXPLORE_BUSY, and the reason of the signal. */
export type Turns = (signal: AbortSignal) => Promise<() => void>;

/**
 * Lets so much work run at once, and so much wait, in the order in which it was asked for. Work whose signal aborts while it waits is
 * forgotten.
 * @param most work that runs at once
 * @param waiting work that may wait
 */
export function turnsOf(most: number, waiting: number): Turns {
  let taken = 0;
  const queue = new Set<() => void>();
  const leave = (): void => {
    taken--;
    const [next] = queue;
    next?.();
  };
  return async (signal) => {
    signal.throwIfAborted();
    if (taken >= most) {
      if (queue.size >= waiting) throw busy(queue.size);
      await new Promise<void>((resolve, reject) => {
        const gone = (): void => {
          queue.delete(begin);
          reject(signal.reason);
        };
        const begin = (): void => {
          queue.delete(begin);
          signal.removeEventListener('abort', gone);
          resolve();
          taken++;
        };
        queue.add(begin);
        signal.addEventListener('abort', gone, { once: true });
      });
    } else taken++;
    let isLeft = false;
    return () => {
      if (!isLeft) leave();
      isLeft = true;
    };
  };
}

const busy = (many: number): LotlakeError =>
  new LotlakeError('EXPLORE_BUSY', `${many} requests wait already`, {
    hint: 'ask again once they are answered; lotlake query runs beside the pages',
  });
