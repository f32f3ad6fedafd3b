import { spawn, spawnSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { freePort } from './free-port.js';

/** A running server of Postgres with one empty database. */
export interface Postgres {
  /** Address of its database, without the password. */
  readonly database: string;
  readonly port: number;
  /** Where and as whom a test connects by itself. */
  readonly login: Readonly<pg.ClientConfig>;
  readonly password: string;
  /** Folder of its programs, such as `pg_dump`. */
  readonly bin: string;
  /** Runs statements as its owner, who is not lotlake. */
  query(sql: string, values?: readonly unknown[], database?: string): Promise<Record<string, unknown>[]>;
  close(): Promise<void>;
}

/** Folder with the programs of a server of Postgres; undefined if this machine has none. */
export function postgresBin(): string | undefined {
  const debian = '/usr/lib/postgresql';
  const versions = existsSync(debian)
    ? readdirSync(debian).map((version) => join(debian, version, 'bin'))
    : [];
  return [...(process.env.PATH ?? '').split(':'), ...versions].find((bin) =>
    ['initdb', 'postgres', 'pg_dump', 'pg_restore'].every((program) => existsSync(join(bin, program))),
  );
}

const OWNER = 'owner';
const PASSWORD = 'not-to-be-seen-9';

/** Starts a server over an empty temporary folder on a free port of 127.0.0.1, which asks everybody for a password. */
export async function startPostgres(): Promise<Postgres> {
  const bin = postgresBin();
  if (bin === undefined) throw new Error('no Postgres');
  const folder = mkdtempSync(join(tmpdir(), 'lotlake-postgres-'));
  const data = join(folder, 'data');
  mkdirSync(data, { mode: 0o700 });
  const secret = join(folder, 'password');
  writeFileSync(secret, PASSWORD);
  // It refuses to run as root.
  const user = process.getuid?.() === 0 ? userOf('postgres') : {};
  if (user.uid !== undefined) {
    chmodSync(folder, 0o755);
    for (const path of [data, secret]) chownSync(path, user.uid, user.gid ?? 0);
  }
  const made = spawnSync(
    join(bin, 'initdb'),
    ['-D', data, '-U', OWNER, '-A', 'scram-sha-256', '--pwfile', secret, '-E', 'UTF8', '--locale', 'C.UTF-8'],
    { ...user, encoding: 'utf8' },
  );
  if (made.status !== 0) throw new Error(made.stderr);
  const port = await freePort();
  const options = [
    'listen_addresses=127.0.0.1',
    'unix_socket_directories=',
    'fsync=off',
    'timezone=Asia/Seoul',
  ];
  const server = spawn(
    join(bin, 'postgres'),
    ['-D', data, '-p', String(port), ...options.flatMap((each) => ['-c', each])],
    {
      ...user,
      stdio: 'ignore',
    },
  );
  const ended = new Promise((resolve) => server.once('exit', resolve));
  const login = { host: '127.0.0.1', port, user: OWNER, password: PASSWORD };
  const query: Postgres['query'] = async (sql, values = [], database = 'site') => {
    const client = new pg.Client({ ...login, database });
    await client.connect();
    try {
      return (await client.query(sql, [...values])).rows;
    } finally {
      await client.end();
    }
  };
  for (let tries = 0; ; tries++) {
    try {
      await query('create database site', [], 'postgres');
      break;
    } catch (error) {
      if (tries > 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
  return {
    ...{ port, bin, login, password: PASSWORD, query },
    database: `postgres://${OWNER}@127.0.0.1:${port}/site`,
    close: async () => {
      server.kill('SIGINT');
      await ended;
      rmSync(folder, { recursive: true });
    },
  };
}

function userOf(name: string): { readonly uid?: number; readonly gid?: number } {
  const id = (flag: string): number => Number(spawnSync('id', [flag, name], { encoding: 'utf8' }).stdout);
  return { uid: id('-u'), gid: id('-g') };
}
