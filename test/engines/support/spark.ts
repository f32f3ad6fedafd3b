import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../pipelines/support.js';
import { engine } from './engines.js';
import { freePort } from './free-port.js';
import type { S3Server } from './s3.js';

/** A standalone Spark cluster with a master and two workers of one core each. */
export interface SparkCluster {
  /** Such as `spark://127.0.0.1:40123`. */
  readonly master: string;
  /** Environment of programs that submit to the cluster. */
  readonly env: NodeJS.ProcessEnv;
  /** Process ids of the workers. */
  readonly workers: readonly number[];
  close(): Promise<void>;
}

/** Folder of Spark. */
export const sparkHome = (): string => {
  const lib = engine('python', 'lib');
  const python = readdirSync(lib).find((name) => name.startsWith('python3')) ?? '';
  return join(lib, python, 'site-packages', 'pyspark');
};

/** Path of a program of Spark, such as `spark-sql` or `spark-submit`. */
export const sparkProgram = (name: string): string => join(sparkHome(), 'bin', name);

/** Starts a cluster. `env` becomes part of the environment of its executors, for the credentials of object storage. */
export async function startSpark(env: Readonly<Record<string, string>> = {}): Promise<SparkCluster> {
  const folder = temporaryFolder();
  const all: NodeJS.ProcessEnv = {
    ...process.env,
    ...env,
    SPARK_HOME: sparkHome(),
    SPARK_LOCAL_IP: '127.0.0.1',
    SPARK_LOCAL_DIRS: folder.path,
    PYSPARK_PYTHON: engine('python', 'bin', 'python'),
  };
  const children: ChildProcess[] = [];
  const start = async (role: string, port: number, ...args: readonly string[]): Promise<void> => {
    const name = `org.apache.spark.deploy.${role.toLowerCase()}.${role}`;
    const own = ['--host', '127.0.0.1', '--port', String(port), '--webui-port', '0', ...args];
    const child = spawn(sparkProgram('spark-class'), [name, ...own], { env: all });
    children.push(child);
    await printed(child, role === 'Master' ? 'I have been elected leader' : 'Successfully registered');
  };
  const port = await freePort();
  const master = `spark://127.0.0.1:${port}`;
  await start('Master', port);
  for (const _ of [1, 2])
    await start(
      'Worker',
      await freePort(),
      '--cores',
      '1',
      '--memory',
      '2g',
      '--work-dir',
      folder.path,
      master,
    );
  return {
    master,
    env: all,
    workers: children.slice(1).flatMap(({ pid }) => pid ?? []),
    close: async () => {
      await Promise.all(children.map(end));
      folder.remove();
    },
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit');
  child.kill();
  await ended;
}

/** Resolves when stderr of a process contains the text; rejects if the process ends first. */
function printed(child: ChildProcess, text: string): Promise<void> {
  let err = '';
  return new Promise((resolve, reject) => {
    child.stderr?.on('data', (data) => {
      err += data;
      if (err.includes(text)) resolve();
    });
    child.once('exit', () => reject(new Error(`ended without saying ${text}: ${err}`)));
  });
}

/** Options of `spark-sql` and `spark-submit`: for a cluster if one is given, else for two cores of this process. */
export function sparkOptions(cluster?: SparkCluster, s3?: S3Server): string[] {
  const jars = readdirSync(engine('spark-jars')).map((name) => engine('spark-jars', name));
  const settings = { ...SETTINGS, ...(s3 === undefined ? {} : objectStorage(s3)) };
  return [
    ...['--master', cluster?.master ?? 'local[2]', '--driver-memory', '2g', '--executor-memory', '1500m'],
    ...['--jars', jars.join(',')],
    ...Object.entries(settings).flatMap(([name, value]) => ['--conf', `${name}=${value}`]),
  ];
}

const SETTINGS = {
  'spark.ui.enabled': 'false',
  'spark.sql.catalogImplementation': 'in-memory',
  // Two cores need few partitions; the default of 200 is for a large cluster.
  'spark.sql.shuffle.partitions': '4',
};

const objectStorage = ({ endpoint }: S3Server) => ({
  'spark.hadoop.fs.s3.impl': 'org.apache.hadoop.fs.s3a.S3AFileSystem',
  'spark.hadoop.fs.s3a.endpoint': endpoint,
  'spark.hadoop.fs.s3a.endpoint.region': 'us-east-1',
  'spark.hadoop.fs.s3a.path.style.access': 'true',
});
