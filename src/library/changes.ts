import { type ChangesRequest, findChanges } from '../ask/export/changes.js';
import { type Change, changedRows, headOf } from '../ask/export/write-changes.js';
import { openTemporarySession } from '../base/duck/session.js';
import { type LakeSettings, settingsOf } from './lake-settings.js';

/** Options of `readChanges`. */
export interface ChangesOptions extends ChangesRequest {
  /** Ends the reading, which then rejects with the reason of the signal. */
  readonly signal?: AbortSignal | undefined;
}

/** The changes between two snapshots, whose rows are read once. */
export interface ChangesFeed extends ReturnType<typeof headOf>, AsyncIterable<Change> {
  /** Frees memory and scratch folder, if the rows are not read to their end. */
  close(): void;
}

/** Finds what changed between two snapshots; `index.ts` describes it. */
export async function read(settings: LakeSettings, options: ChangesOptions): Promise<ChangesFeed> {
  const { signal } = options;
  signal?.throwIfAborted();
  const { config } = settingsOf(settings);
  const opened = await openTemporarySession(config);
  const { connection } = opened.session;
  opened.session.interruptOn(signal);
  let isOpen = true;
  const close = (): void => {
    if (isOpen) opened.close();
    isOpen = false;
  };
  const working = async <T>(work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } catch (error) {
      close();
      signal?.throwIfAborted();
      throw error;
    }
  };
  const changes = await working(() => findChanges(connection, config, options));
  return {
    ...headOf(changes),
    close,
    async *[Symbol.asyncIterator]() {
      const pieces = changedRows(connection, changes);
      try {
        for (;;) {
          const piece = await working(() => pieces.next());
          if (piece.done === true) return;
          yield* piece.value;
        }
      } finally {
        close();
      }
    },
  };
}
