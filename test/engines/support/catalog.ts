import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../pipelines/support.js';
import { engine } from './engines.js';
import { freePort } from './free-port.js';
import type { S3Server } from './s3.js';
import { sparkHome } from './spark.js';

/** Starts the REST catalog server of the Iceberg project, over files and, if given, object storage. */
export async function startCatalog(s3?: S3Server): Promise<{ readonly uri: string; close(): Promise<void> }> {
  const folder = temporaryFolder();
  writeFileSync(join(folder.path, 'core-site.xml'), s3 === undefined ? NO_SETTINGS : coreSite(s3));
  // The catalog's jars contain a dummy class of S3A, so the real class has to come first. Spark's jars contain Hadoop.
  const storage = readdirSync(engine('spark-jars'))
    .filter((name) => !name.startsWith('iceberg-spark'))
    .map((name) => engine('spark-jars', name));
  const jars = [...storage, join(engine('catalog-jars'), '*'), join(sparkHome(), 'jars', '*')];
  const classes = [folder.path, ...jars].join(':');
  const port = await freePort();
  const child = spawn('java', ['-Xmx512m', '-cp', classes, 'org.apache.iceberg.rest.RESTCatalogServer'], {
    env: { ...process.env, ...s3?.env, CATALOG_REST_PORT: String(port), CATALOG_WAREHOUSE: folder.path },
    stdio: 'ignore',
  });
  const uri = `http://127.0.0.1:${port}`;
  await untilReady(`${uri}/v1/config`);
  return {
    uri,
    close: async () => {
      const ended = once(child, 'exit');
      child.kill();
      await ended;
      folder.remove();
    },
  };
}

const property = (name: string, value: string): string =>
  `<property><name>${name}</name><value>${value}</value></property>`;

const NO_SETTINGS = '<configuration/>';

const coreSite = ({ endpoint }: S3Server): string =>
  `<configuration>${[
    property('fs.s3.impl', 'org.apache.hadoop.fs.s3a.S3AFileSystem'),
    property('fs.s3a.endpoint', endpoint),
    property('fs.s3a.endpoint.region', 'us-east-1'),
    property('fs.s3a.path.style.access', 'true'),
  ].join('')}</configuration>`;

/** Waits until an address answers. Throws after 30 seconds. */
async function untilReady(url: string): Promise<void> {
  for (let attempt = 0; ; attempt++) {
    const answered = await fetch(url)
      .then(({ ok }) => ok)
      .catch(() => false);
    if (answered) return;
    if (attempt === 100) throw new Error(`${url} does not answer`);
    await new Promise((resolve) => setTimeout(resolve, 300));
  }
}
