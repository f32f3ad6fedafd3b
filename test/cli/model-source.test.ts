import { expect, it } from 'vitest';
import { confOf } from '../../src/cli/model-source.js';

const place = { pathStyle: false, concurrency: 1, landing: false };

it('tells Spark how a mirror is reached and encrypted', () => {
  expect(confOf(place)).toEqual({});
  expect(confOf({ ...place, pathStyle: true, region: 'here', encryption: 'AES256' })).toEqual({
    'spark.hadoop.fs.s3a.endpoint.region': 'here',
    'spark.hadoop.fs.s3a.path.style.access': true,
    'spark.hadoop.fs.s3a.encryption.algorithm': 'AES256',
  });
  expect(confOf({ ...place, encryption: 'aws:kms', kmsKey: 'arn' })).toEqual({
    'spark.hadoop.fs.s3a.encryption.algorithm': 'SSE-KMS',
    'spark.hadoop.fs.s3a.encryption.key': 'arn',
  });
});
