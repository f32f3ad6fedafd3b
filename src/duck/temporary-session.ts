import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openSession, type Session, type SessionOptions } from './session.js';

/** A database in memory for reading a lake, with a folder of its own. */
export interface TemporarySession {
  readonly session: Session;
  /** Folder that queries may write to; removed when the session is closed. */
  readonly temp: string;
  close(): void;
}

/** Opens a database in memory whose scratch folder is outside the lake, so that reading leaves no trace there. */
export async function openTemporarySession(
  limits: Pick<SessionOptions, 'memory' | 'threads'>,
): Promise<TemporarySession> {
  const temp = mkdtempSync(join(tmpdir(), 'lotlake-'));
  const session = await openSession({ memory: limits.memory, threads: limits.threads, temp });
  return {
    session,
    temp,
    close: () => {
      session.close();
      rmSync(temp, { recursive: true, force: true });
    },
  };
}
