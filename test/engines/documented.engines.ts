import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { PutObjectCommand, S3Client } from '@aws-sdk/client-s3';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { runLotlake } from '../cli/support.js';
import { blocksOf } from '../docs/typed/blocks.js';
import { temporaryFolder } from '../pipelines/support.js';
import { describeWith, engine } from './support/engines.js';
import { readTables } from './support/readers.js';
import { type S3Server, startS3 } from './support/s3.js';
import { type Nights, startNights } from './support/worlds.js';

/** Code of a page in one language, with the names of the test in place of those in the text. */
const codeOf = (page: string, language: string, mirror: string): readonly string[] =>
  blocksOf(page)
    .filter((block) => block.language === language)
    .map(({ text }) => text.replaceAll('bucket/prefix', mirror).replaceAll(':::bucket"', ':::lake"'));

/** Credentials that may do what a policy allows, from the STS of the server. */
function credentialsFor({ endpoint, env }: S3Server, policy: string): Record<string, string> {
  const form = { Action: 'AssumeRole', Version: '2011-06-15', DurationSeconds: '3600', Policy: policy };
  const user = `${env.AWS_ACCESS_KEY_ID}:${env.AWS_SECRET_ACCESS_KEY}`;
  const fields = Object.entries(form).flatMap(([name, value]) => ['--data-urlencode', `${name}=${value}`]);
  const signed = ['--aws-sigv4', 'aws:amz:us-east-1:sts', '--user', user];
  const answer = execFileSync('curl', ['--silent', '--fail', ...signed, ...fields, endpoint]).toString();
  const found = (name: string): string => new RegExp(`<${name}>([^<]+)<`).exec(answer)?.[1] ?? '';
  return {
    ...{ AWS_ACCESS_KEY_ID: found('AccessKeyId'), AWS_SECRET_ACCESS_KEY: found('SecretAccessKey') },
    ...{ AWS_SESSION_TOKEN: found('SessionToken'), AWS_REGION: 'us-east-1' },
  };
}

describeWith(['python', 'servers', 'spark-jars'], 'what the pages say of a mirror', () => {
  let s3: S3Server;
  let world: Nights;
  const folder = temporaryFolder();
  const mirror = 'lake/prefix';

  beforeAll(async () => {
    s3 = await startS3();
    world = await startNights();
    await world.night();
  });
  afterAll(async () => {
    await world?.close();
    await s3?.close();
    folder.remove();
  });
  afterEach(() => {
    vi.unstubAllEnvs();
  });

  const become = (env: Readonly<Record<string, string>>): void => {
    for (const [name, value] of Object.entries(env)) vi.stubEnv(name, value);
  };
  const policy = (index: number): string => {
    const found = codeOf('docs/run/scale.md', 'json', mirror).filter((text) => text.includes('"Statement"'));
    return found[index] ?? expect.fail('scale.md has no such policy');
  };
  const lotlake = (output: string, command: string, ...args: readonly string[]) =>
    runLotlake(output, command, ...args, '--endpoint', s3.endpoint, '--path-style', '--json');
  const push = () => lotlake(world.output, 'push', `s3://${mirror}`);

  it('Spark reads a table of lake/current with source and month, as engines.md says', () => {
    const { text } =
      blocksOf('docs/ask/engines.md').find(({ text }) => text.includes('pyspark')) ?? expect.fail();
    const place = join(folder.path, 'sandbox');
    mkdirSync(join(place, 'output'), { recursive: true });
    symlinkSync(world.output, join(place, 'output', 'sandbox'));
    const shown = execFileSync(engine('python', 'bin', 'python'), ['-c', text], { cwd: place }).toString();
    expect(shown).toMatch(/\|domain_id\| +month\|count\|/);
    expect(shown).toMatch(/\| +3\|2026-\d\d\|/);
  });

  describe('the policy of the machine that pushes', () => {
    it('is enough to push nights and to vacuum, and does not reach beyond the mirror', async () => {
      const env = credentialsFor(s3, policy(1));
      become(env);
      expect(push()).toMatchObject({ code: 0 });
      await world.night();
      expect(push()).toMatchObject({ code: 0 });
      const args = ['vacuum', '--remote', '--to', `s3://${mirror}`];
      expect(runLotlake(world.output, ...args, '--endpoint', s3.endpoint, '--path-style')).toMatchObject({
        code: 0,
      });
      const refused = lotlake(world.output, 'push', 's3://lake/other');
      expect([refused.code, refused.err]).toEqual([3, expect.stringContaining('MIRROR_REFUSED')]);
    });
  });

  describe('the policy of readers', () => {
    let env: Record<string, string>;
    beforeAll(() => {
      env = credentialsFor(s3, policy(0));
    });

    it('is enough to pull, and not to write', async () => {
      become(env);
      const output = join(folder.path, 'pulled');
      mkdirSync(output);
      expect(lotlake(output, 'pull', `s3://${mirror}`)).toMatchObject({ code: 0 });
      expect(runLotlake(output, 'verify')).toMatchObject({ code: 0 });
      const client = new S3Client({ endpoint: s3.endpoint, region: 'us-east-1', forcePathStyle: true });
      const written = client.send(
        new PutObjectCommand({ Bucket: 'lake', Key: 'prefix/tables/x', Body: 'x' }),
      );
      await expect(written).rejects.toMatchObject({ name: 'AccessDenied' });
      client.destroy();
      await world.night();
      const refused = push();
      expect([refused.code, refused.err]).toEqual([3, expect.stringContaining('MIRROR_REFUSED')]);
    });

    it.each(['pyiceberg', 'spark'] as const)('is enough for %s', (reader) => {
      const [lots] = readTables(reader, [{ name: 'lots', location: `s3://${mirror}/tables/lots` }], {
        s3: { ...s3, env },
      });
      expect(lots?.rows).toBeGreaterThan(0);
    });

    it('is enough for the program that prints the night of each table', () => {
      const [found = ''] = codeOf('docs/run/mirror.md', 'python', mirror);
      const storage = { 's3.endpoint': s3.endpoint, 's3.force-virtual-addressing': 'false' };
      const program = found.replace('storage = {}', `storage = ${JSON.stringify(storage)}`);
      expect(program).not.toBe(found);
      const own = { ...process.env, ...env };
      const out = execFileSync(engine('python', 'bin', 'python'), ['-c', program], { env: own }).toString();
      const lines = out.trim().split('\n');
      expect(lines.length).toBeGreaterThan(80);
      for (const line of lines) expect(line).toMatch(/^\w+ \d{8}T\d{6}Z-\w+ as current\.json says$/);
    });
  });
});
