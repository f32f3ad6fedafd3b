import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSession, type SessionOptions } from './session.js';

/** A database for reading a lake, with a folder of its own. */
export type TemporarySession = Readonly<Awaited<ReturnType<typeof openTemporarySession>>>;

/** Opens a database in memory whose scratch folder is outside the lake, so that reading leaves no trace there. */
export async function openTemporarySession(limits: Pick<SessionOptions, 'memory' | 'threads'>) {
  const temp = mkdtempSync(join(tmpdir(), 'lotlake-'));
  const session = await openSession({ memory: limits.memory, threads: limits.threads, temp });
  return {
    session,
    /** Folder that queries may write to; removed when the session is closed. */
    temp,
    close: () => {
      session.close();
      rmSync(temp, { recursive: true, force: true });
    },
  };
}
