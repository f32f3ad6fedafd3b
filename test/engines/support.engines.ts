import { spawnSync } from 'node:child_process';
import { ListBucketsCommand } from '@aws-sdk/client-s3';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { startCatalog } from './support/catalog.js';
import { describeWith } from './support/engines.js';
import { type S3Server, startS3 } from './support/s3.js';
import { type SparkCluster, sparkOptions, sparkProgram, startSpark } from './support/spark.js';

describeWith(['servers'], 'S3 servers', () => {
  it.each(['minio', 'versitygw'] as const)('%s starts with a bucket', async (name) => {
    const server = await startS3(name);
    const { Buckets } = await server.client.send(new ListBucketsCommand());
    expect(Buckets?.map(({ Name }) => Name)).toEqual([server.bucket]);
    await server.close();
  });
});

describeWith(['python', 'servers', 'spark-jars', 'catalog-jars'], 'Spark', () => {
  let s3: S3Server;
  let cluster: SparkCluster;
  beforeAll(async () => {
    s3 = await startS3();
    cluster = await startSpark(s3.env);
  });
  afterAll(async () => {
    await cluster.close();
    await s3.close();
  });

  it('keeps an Iceberg table of a REST catalog in object storage, on a cluster of two workers', async () => {
    const catalog = await startCatalog(s3);
    const statements = [
      `create table lake.main.lots (id bigint) using iceberg location 's3://${s3.bucket}/lots'`,
      'insert into lake.main.lots select id from range(1000)',
      'select sum(id) as total from lake.main.lots',
    ];
    const settings = {
      'spark.sql.catalog.lake': 'org.apache.iceberg.spark.SparkCatalog',
      'spark.sql.catalog.lake.type': 'rest',
      'spark.sql.catalog.lake.uri': catalog.uri,
      'spark.sql.catalog.lake.s3.endpoint': s3.endpoint,
      'spark.sql.catalog.lake.s3.path-style-access': 'true',
    };
    const options = Object.entries(settings).flatMap(([name, value]) => ['--conf', `${name}=${value}`]);
    const args = [
      ...sparkOptions(cluster, s3),
      ...options,
      '-e',
      `create namespace lake.main; ${statements.join('; ')}`,
    ];
    const { status, stdout, stderr } = spawnSync(sparkProgram('spark-sql'), args, { env: cluster.env });
    await catalog.close();
    expect(status, String(stderr)).toBe(0);
    expect(String(stdout).trim()).toBe('499500');
  });
});
