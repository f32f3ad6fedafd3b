import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { CreateBucketCommand, S3Client } from '@aws-sdk/client-s3';
import { temporaryFolder } from '../../pipelines/support.js';
import { engine } from './engines.js';
import { freePort } from './free-port.js';

/** Servers that speak S3: MinIO, and versitygw over a plain folder. */
export type ServerName = 'minio' | 'versitygw';

/** A running server with one empty bucket. */
export interface S3Server {
  readonly endpoint: string;
  readonly bucket: string;
  /** Credentials and region. Clients read them only from the environment. */
  readonly env: Readonly<Record<string, string>>;
  /** A client for the test itself. */
  readonly client: S3Client;
  close(): Promise<void>;
}

const KEY = 'test-user';
const SECRET = 'test-password';
const BUCKET = 'lake';

function commandOf(name: ServerName, port: number, folder: string): [string, ...string[]] {
  const address = `127.0.0.1:${port}`;
  if (name === 'minio')
    return [engine('servers', 'minio'), 'server', '--quiet', '--address', address, folder];
  // The sidecar keeps metadata if the file system has no extended attributes.
  const sidecar = join(folder, '..', 'sidecar');
  mkdirSync(sidecar);
  return [
    engine('servers', 'versitygw'),
    '--port',
    address,
    '--quiet',
    'posix',
    '--sidecar',
    sidecar,
    folder,
  ];
}

/** Starts a server over an empty temporary folder, on a free port of 127.0.0.1, and creates a bucket. */
export async function startS3(name: ServerName = 'minio'): Promise<S3Server> {
  const temporary = temporaryFolder();
  const folder = join(temporary.path, 'objects');
  mkdirSync(folder);
  const port = await freePort();
  const [command, ...args] = commandOf(name, port, folder);
  const roots = {
    MINIO_ROOT_USER: KEY,
    MINIO_ROOT_PASSWORD: SECRET,
    MINIO_KMS_SECRET_KEY: `test-key:${Buffer.alloc(32, 1).toString('base64')}`,
    ROOT_ACCESS_KEY: KEY,
    ROOT_SECRET_KEY: SECRET,
  };
  const child = spawn(command, args, { env: { ...process.env, ...roots }, stdio: 'ignore' });
  const endpoint = `http://127.0.0.1:${port}`;
  const credentials = { accessKeyId: KEY, secretAccessKey: SECRET };
  const client = new S3Client({ endpoint, region: 'us-east-1', forcePathStyle: true, credentials });
  await makeBucket(client);
  return {
    endpoint,
    bucket: BUCKET,
    env: { AWS_ACCESS_KEY_ID: KEY, AWS_SECRET_ACCESS_KEY: SECRET, AWS_REGION: 'us-east-1' },
    client,
    close: async () => {
      client.destroy();
      const ended = once(child, 'exit');
      child.kill();
      await ended;
      temporary.remove();
    },
  };
}

/** Creates the bucket as soon as the server answers. Throws after 30 seconds. */
async function makeBucket(client: S3Client): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    try {
      await client.send(new CreateBucketCommand({ Bucket: BUCKET }));
      return;
    } catch (error) {
      if (attempt === 100) throw error;
      await new Promise((resolve) => setTimeout(resolve, 300));
    }
  }
}
