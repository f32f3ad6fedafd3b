import { readFileSync } from 'node:fs';
import pg from 'pg';
import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { hideKey } from '../../base/config/redact.js';

/** Milliseconds until a server that does not answer counts as unreachable. */
const PATIENCE = 30_000;

/** The oldest server that knows a unique key with nulls. */
const LEAST_VERSION = 150_000;

/**
 * Connects to a database. The password is that of the file, of PGPASSWORD, or of `~/.pgpass`, as `pg` reads them, and TLS is as
 * the address says (`sslmode`). Throws SYNC_UNREACHABLE.
 * @param database address without a password
 */
export async function connect(
  database: string,
  passwordFile: string | undefined,
  env: NodeJS.ProcessEnv,
): Promise<pg.Client> {
  const password = passwordFile === undefined ? env.PGPASSWORD : passwordIn(passwordFile);
  if (password !== undefined) hideKey(password);
  // pg takes no password beside an address.
  const address = new URL(database);
  if (password !== undefined) address.password = encodeURIComponent(password);
  const client = new pg.Client({
    connectionString: address.href,
    application_name: 'lotlake',
    connectionTimeoutMillis: PATIENCE,
    keepAlive: true,
  });
  // A connection that breaks between two statements is met by the next one.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query('select current_setting($1)::int as version', ['server_version_num']);
    if (rows[0].version < LEAST_VERSION)
      throw new LotlakeError(
        'SYNC_FAILED',
        `${placeOf(database)} runs Postgres ${rows[0].version / 10_000}`,
        {
          outcome: 'usage',
          hint: 'lotlake sync needs Postgres 15 or newer',
        },
      );
    return client;
  } catch (error) {
    await client.end().catch(() => undefined);
    if (error instanceof LotlakeError) throw error;
    throw new LotlakeError('SYNC_UNREACHABLE', `${placeOf(database)}: ${messageOf(error) || 'no answer'}`, {
      cause: error,
      outcome: 'unavailable',
      retryable: true,
      hint: 'nothing was changed there; check address, user and password (PGPASSWORD, passwordFile or ~/.pgpass), then run it again',
    });
  }
}

function passwordIn(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (cause) {
    throw new LotlakeError('SYNC_FAILED', `the password cannot be read: ${messageOf(cause)}`, {
      cause,
      outcome: 'usage',
      hint: 'name a file that this user may read in passwordFile',
    });
  }
}

/** Host and database of an address, for messages. */
export function placeOf(database: string): string {
  const { hostname, port, pathname, searchParams } = new URL(database);
  return `${searchParams.get('host') ?? (hostname || 'localhost')}${port === '' ? '' : `:${port}`}${pathname}`;
}
