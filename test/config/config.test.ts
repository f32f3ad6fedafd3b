import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { readConfig, readSettings } from '../../src/base/config/config.js';
import { temporaryFolder } from '../pipelines/support.js';

const folders: ReturnType<typeof temporaryFolder>[] = [];
function folderWith(files: Record<string, string>): string {
  const folder = temporaryFolder();
  folders.push(folder);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder.path, name)), { recursive: true });
    writeFileSync(join(folder.path, name), text, { mode: 0o600 });
  }
  return folder.path;
}
afterEach(() => {
  for (const folder of folders.splice(0)) folder.remove();
});

describe('the configuration', () => {
  it('takes flags over environment over file over defaults', () => {
    const cwd = folderWith({ 'lotlake.config.json': '{"rate": 2, "perPage": 100, "output": "from-file"}' });
    const env = { LOTLAKE_RATE: '3', LOTLAKE_OUTPUT: 'from-env' };
    const config = readConfig({ output: 'from-flag' }, { env, cwd });
    expect(config).toMatchObject({ output: join(cwd, 'from-flag'), rate: 3, perPage: 100, concurrency: 4 });
  });

  it('describes every setting in force and its origin, without secrets', () => {
    const cwd = folderWith({
      'lotlake.config.json': '{"perPage": 100, "publish": {"to": "s3://one"}, "rate": 2}',
    });
    const submit = 'spark-sql --conf spark.hadoop.fs.s3a.secret.key=hidden --conf spark.a=b';
    const env = {
      ...{ LOTLAKE_RATE: '3', LOTLAKE_API_KEY: 'hidden', LOTLAKE_SPARK_SUBMIT: submit },
      LOTLAKE_BASE_URL: 'https://host/api/',
    };
    const flags = { sources: '1,3', publish: { region: 'here' } };
    const { config, inForce } = readSettings(flags, { env, cwd }, { defaults: { log: 'warn' } });
    const file = join(cwd, 'lotlake.config.json');
    const secret = 'spark.hadoop.fs.s3a.secret.key=…';
    for (const [name, value, from] of [
      ['rate', 3, 'LOTLAKE_RATE'],
      ['apiKey', 'set', 'LOTLAKE_API_KEY'],
      ['origin', 'https://host/api', 'default'],
      ['perPage', 100, file],
      ['publish.to', 's3://one', file],
      ['publish.region', 'here', '--region'],
      ['publish.landing', false, 'default'],
      ['sources', [1, 3], '--sources'],
      ['spark.submit', ['spark-sql', '--conf', secret, '--conf', 'spark.a=b'], 'LOTLAKE_SPARK_SUBMIT'],
      ['log', 'warn', 'default'],
      ['output', join(cwd, 'output'), 'default'],
      ['memory', config.memory, 'default'],
      ['threads', null, 'default'],
      ['publish.catalog.uri', null, 'default'],
    ])
      expect(inForce).toContainEqual({ name, value, from });
    expect(JSON.stringify(inForce)).not.toContain('hidden');
    expect(readSettings({}, { env: {}, cwd }).inForce).toContainEqual({
      ...{ name: 'apiKey', value: null, from: 'default' },
    });
  });

  it('names what is wrong and where', () => {
    const cwd = folderWith({ 'lotlake.config.json': '{"perpage": 5}' });
    expect(() => readConfig({}, { env: {}, cwd })).toThrow(
      `perpage in ${cwd}/lotlake.config.json: there is no such setting; did you mean perPage?`,
    );
    expect(() => readConfig({}, { env: { LOTLAKE_RATE: 'fast' }, cwd: folderWith({}) })).toThrow(
      /^LOTLAKE_RATE is "fast"/,
    );
    expect(() => readConfig({}, { env: { LOTLAKE_MEMORY: 'much' }, cwd: folderWith({}) })).toThrow(
      /^LOTLAKE_MEMORY is "much"/,
    );
    expect(() => readConfig({}, { env: {}, cwd: folderWith({ 'lotlake.config.json': '{' }) })).toThrow(
      /no JSON: invalid end of input at line 1, column 2$/,
    );
  });

  it('reads comments and a comma at the end of the file', () => {
    const text = '// A lake.\n{\n  /* slow */ "rate": 0.5, // a second\n  "publish.region": "here",\n}\n';
    const read = (file: string) =>
      readConfig({}, { env: {}, cwd: folderWith({ 'lotlake.config.json': file }) });
    expect(read(text)).toMatchObject({ rate: 0.5, publish: { region: 'here' } });
    expect(() => read(text.replace('0.5,', '0.5'))).toThrow(
      /lotlake.config.json: the file is no JSON: invalid character .* at line 4, column 3$/,
    );
  });

  it('finds the file in a parent folder, and resolves its paths from there', () => {
    const root = folderWith({
      'lotlake.config.json': '{"seeds": "own", "logFile": "night.log"}',
      'own/a.csv': '',
      'a/b/note': '',
      'other/settings.json': '{"output": "lake"}',
    });
    const cwd = join(root, 'a', 'b');
    const read = (flags = {}, env = {}) => readConfig(flags, { env, cwd });
    expect(read()).toMatchObject({
      ...{ output: join(root, 'output'), seeds: join(root, 'own'), logFile: join(root, 'night.log') },
    });
    expect(read({ logFile: 'x.log' }).logFile).toBe(join(cwd, 'x.log'));
    expect(read({ output: 'x' }).output).toBe(join(cwd, 'x'));
    expect(read({}, { LOTLAKE_OUTPUT: 'x' }).output).toBe(join(cwd, 'x'));
    expect(read({ configFile: '../../other/settings.json' }).output).toBe(join(root, 'other', 'lake'));
    writeFileSync(join(root, 'a', 'lotlake.config.json'), '{}');
    expect(read()).toMatchObject({ output: join(root, 'a', 'output') });
  });

  it('takes every setting from a variable', () => {
    const env = {
      ...{ LOTLAKE_SHRINK_GUARD: '0.5', LOTLAKE_KEEP_PASSES: '4', LOTLAKE_ICEBERG: 'true' },
      ...{ LOTLAKE_PUBLISH_PATH_STYLE: 'true', LOTLAKE_PUBLISH_CATALOG_URI: 'https://host/iceberg' },
    };
    expect(readConfig({}, { env, cwd: folderWith({}) })).toMatchObject({
      ...{ shrinkGuard: 0.5, keepPasses: 4, iceberg: true },
      publish: { pathStyle: true, catalog: { uri: 'https://host/iceberg', namespace: 'lotlake' } },
    });
    const wrong = { LOTLAKE_PUBLISH_CATALOG_URI: 'here' };
    expect(() => readConfig({}, { env: wrong, cwd: folderWith({}) })).toThrow(
      /^LOTLAKE_PUBLISH_CATALOG_URI is "here": it is no URL such as https:\/\/host\/iceberg/,
    );
  });

  it('reads .env beside the file of settings, under the environment and over the file', () => {
    const lines = [
      ...['LOTLAKE_RATE=2', 'LOTLAKE_PER_PAGE="50"', 'export LOTLAKE_OUTPUT=lake # here', 'LOTLAKE_LOG='],
      ...[
        'LOTLAKE_API_KEY_FILE=key',
        'AWS_REGION=there',
        'AWS_PROFILE=p',
        'HTTPS_PROXY=http://p:1',
        'PATH=x',
      ],
    ];
    const root = folderWith({
      'lotlake.config.json': '{"rate": 9, "log": "warn"}',
      ...{ '.env': lines.join('\n'), key: 'of the file\n', 'sub/note': '', 'sub/.env': 'LOTLAKE_RATE=7' },
    });
    const env: NodeJS.ProcessEnv = {
      ...{ LOTLAKE_PER_PAGE: '60', LOTLAKE_OUTPUT: '', AWS_PROFILE: 'q', https_proxy: 'http://q:1' },
    };
    const { config, inForce, warnings } = readSettings({}, { env, cwd: join(root, 'sub') });
    expect(config).toMatchObject({ rate: 2, perPage: 60, log: 'warn', apiKey: 'of the file' });
    expect(config.output).toBe(join(root, 'lake'));
    expect(inForce).toContainEqual({ name: 'rate', value: 2, from: join(root, '.env') });
    expect(inForce).toContainEqual({ name: 'perPage', value: 60, from: 'LOTLAKE_PER_PAGE' });
    expect(env).toEqual({
      ...{ LOTLAKE_PER_PAGE: '60', LOTLAKE_OUTPUT: '', AWS_PROFILE: 'q', https_proxy: 'http://q:1' },
      AWS_REGION: 'there',
    });
    expect(warnings).toEqual([]);
    expect(readConfig({}, { env: { LOTLAKE_API_KEY: 'real' }, cwd: root }).apiKey).toBe('real');
    const wrong = folderWith({ '.env': 'LOTLAKE_RATE=fast' });
    expect(() => readConfig({}, { env: {}, cwd: wrong })).toThrow(
      `LOTLAKE_RATE in ${wrong}/.env is "fast"; it takes requests a second`,
    );
  });

  it('warns of a file with a secret that others can read', () => {
    const cwd = folderWith({ key: 'a', '.env': 'LOTLAKE_RATE=1' });
    const warnings = () => readSettings({}, { env: { LOTLAKE_API_KEY_FILE: 'key' }, cwd }).warnings;
    for (const name of ['key', '.env']) chmodSync(join(cwd, name), 0o644);
    const warningOf = (name: string) =>
      `others can read ${join(cwd, name)}, which holds a secret (mode 644); run chmod 600 ${join(cwd, name)}`;
    expect(warnings()).toEqual([warningOf('key')]);
    writeFileSync(join(cwd, '.env'), 'AWS_SECRET_ACCESS_KEY=x');
    expect(warnings()).toEqual([warningOf('.env'), warningOf('key')]);
    chmodSync(join(cwd, 'key'), 0o400);
    expect(warnings()).toEqual([warningOf('.env')]);
    const url = '{"notify": {"url": "https://host/token"}}';
    writeFileSync(join(cwd, 'lotlake.config.json'), url, { mode: 0o644 });
    expect(warnings()).toEqual([warningOf('lotlake.config.json'), warningOf('.env')]);
  });

  it('takes the key from the environment or a file of its own, never from the settings file', () => {
    const cwd = folderWith({ key: 'secret\n', 'lotlake.config.json': '{}' });
    expect(readConfig({}, { env: { LOTLAKE_API_KEY: 'a' }, cwd }).apiKey).toBe('a');
    expect(readConfig({}, { env: { LOTLAKE_API_KEY_FILE: 'key' }, cwd }).apiKey).toBe('secret');
    expect(() => readConfig({}, { env: { LOTLAKE_API_KEY_FILE: 'none' }, cwd })).toThrow(/cannot be read/);
    const withKey = folderWith({ 'lotlake.config.json': '{"apiKey": "secret"}' });
    expect(() => readConfig({}, { env: {}, cwd: withKey })).toThrow(/holds the key/);
  });

  it('strips the final line break of a key file, and accepts no other', () => {
    const read = (key: string) =>
      readConfig({}, { env: { LOTLAKE_API_KEY_FILE: 'key' }, cwd: folderWith({ key }) }).apiKey;
    for (const end of ['', '\n', '\r\n']) expect(read(`a key${end}`)).toBe('a key');
    for (const key of ['a\nb', 'a\n\n', ' a', 'a\u0000', 'ä', '', '\n', '\ufeffa'])
      expect(() => read(key)).toThrow(/^the key file key cannot be used: /);
  });

  it('reads numbers as people write them, and nothing else as a number', () => {
    const rate = (given: unknown) =>
      readConfig(
        {},
        { env: {}, cwd: folderWith({ 'lotlake.config.json': JSON.stringify({ rate: given }) }) },
      );
    for (const [given, read] of [
      ['2', 2],
      [' 2.5 ', 2.5],
      ['.5', 0.5],
      ['1e3', 1000],
      [3, 3],
    ] as const)
      expect(rate(given).rate).toBe(read);
    for (const given of [
      '',
      ' ',
      '0',
      '-1',
      '1e999',
      '0x10',
      '1_000',
      '1,5',
      'NaN',
      'Infinity',
      '1e-9',
      true,
      null,
      [1],
    ])
      expect(() => rate(given)).toThrow(`is ${JSON.stringify(given)}; it takes requests a second`);
  });

  it('takes each source only once', () => {
    const sources = (given: string) =>
      readConfig({ sources: given }, { env: {}, cwd: folderWith({}) }).sources;
    expect(sources('1, 3')).toEqual([1, 3]);
    for (const given of ['3,3', '3,7', '', ',', '1;3', '1.0e0,x'])
      expect(() => sources(given)).toThrow(/^--sources is /);
  });

  it('takes no address that holds the key, which the lake would keep', () => {
    const apiKey = 'Zx9-SecretKey';
    const read = (baseUrl: string, key = apiKey) =>
      readConfig({ baseUrl }, { env: { LOTLAKE_API_KEY: key }, cwd: folderWith({}) }).baseUrl;
    const encoded = encodeURIComponent('%5A%78%39-SecretKey');
    for (const part of [apiKey, '%5a%78%39-SecretKey', encoded]) {
      const url = `https://service.example/api/${part}`;
      expect(() => read(url), part).toThrow(/^--base-url holds the key/);
      expect(() => read(url), part).not.toThrow(apiKey);
    }
    expect(() => read('https://service.example/api')).not.toThrow();
    expect(() => read('https://service.example/api', 'api')).not.toThrow();
  });

  it('sends the key over https only, except to this machine', () => {
    const url = (baseUrl: string) => readConfig({ baseUrl }, { env: {}, cwd: folderWith({}) }).baseUrl;
    for (const given of ['http://service.example/api', 'http://10.0.0.1', 'http://127.0.0.1.service.example'])
      expect(() => url(given)).toThrow(/not https/);
    expect(() => url('ftp://service.example')).toThrow(/no URL of http or https/);
    expect(() => url('https://user:password@service.example/api')).toThrow(/credentials/);
    expect(() => url('https://user:password@service.example/api')).not.toThrow(/password@|user/);
    expect(() => url('https://service.example/api?token=secret')).toThrow(
      /^--base-url cannot be used: it has a query/,
    );
    for (const given of [
      'https://service.example/api',
      'http://127.0.0.1:1/api',
      'http://localhost:1',
      'http://[::1]:1/',
    ])
      expect(url(given)).toBe(given);
  });

  it('takes each member of an object setting from its own origin', () => {
    const cwd = folderWith({ 'lotlake.config.json': '{"publish": {"to": "s3://one", "region": "here"}}' });
    const env = { LOTLAKE_PUBLISH_TO: 's3://two/lake' };
    expect(readConfig({}, { env, cwd }).publish).toEqual({
      ...{ to: 's3://two/lake', region: 'here' },
      ...{ pathStyle: false, concurrency: 8, landing: false },
    });
    expect(readConfig({ publish: { to: 's3://three' } }, { env, cwd }).publish?.to).toBe('s3://three');
    expect(readConfig({}, { env: {}, cwd: folderWith({}) }).publish.to).toBeUndefined();
  });

  it('names the wrong member of an object setting, and its place', () => {
    const read = (file: string, env: Record<string, string> = {}) => {
      const cwd = folderWith({ 'lotlake.config.json': file });
      return () => readConfig({ publish: { pathStyle: undefined } }, { env, cwd });
    };
    expect(read('{}', { LOTLAKE_PUBLISH_TO: 's3:/one' })).toThrow(
      /^LOTLAKE_PUBLISH_TO is "s3:\/one": it is no place/,
    );
    expect(read('{"publish": {"concurrency": 0}}')).toThrow(
      /^publish.concurrency in .*config.json is 0; it takes/,
    );
    expect(read('{"publish": {"encryption": "rot13"}}')).toThrow(
      /^publish.encryption in .* is "rot13"; it takes AES256, aws:kms or aws:kms:dsse/,
    );
    expect(read('{"publish": {"encryption": "AES256", "kmsKey": "k"}}')).toThrow(
      /^publish.kmsKey in .*: only publish.encryption aws:kms or aws:kms:dsse uses a key/,
    );
    expect(read('{"publish": {"storageClass": "GLACIER"}}')).toThrow(
      /^publish.storageClass in .* is "GLACIER": its objects must be restored/,
    );
    expect(
      read('{"publish": {"encryption": "aws:kms", "kmsKey": "k", "storageClass": "STANDARD_IA"}}'),
    ).not.toThrow();
    expect(read('{"publish": {"too": 1}}')).toThrow(
      /^publish.too in .*config.json: there is no such setting/,
    );
    expect(read('{"publish": "s3://one"}')).toThrow(
      /^publish in .*config.json is "s3:\/\/one"; it takes an object/,
    );
    expect(read('{"publish": {"endpoint": "http://me:secret@here"}}')).toThrow(/holds credentials/);
    expect(read('{"publish": {"endpoint": "http://me:secret@here"}}')).not.toThrow(/secret@/);
    expect(read('{"spark": {"submit": [1]}}')).toThrow(/^spark.submit in .*config.json is \[1\]; it takes/);
    for (const to of [
      's3://',
      's3://B/x',
      's3://bucket/a//x',
      's3://bucket/../x',
      's3://bucket/a b',
      'gs://bucket',
    ])
      expect(read(JSON.stringify({ publish: { to } }))).toThrow(/^publish.to in /);
  });

  it('repeats no credential of the address of a mirror', () => {
    const read = (publish: unknown) => {
      const cwd = folderWith({ 'lotlake.config.json': JSON.stringify({ publish }) });
      return () => readConfig({}, { env: {}, cwd });
    };
    for (const [publish, message] of [
      [{ to: 's3://me:secret@bucket/p' }, /^publish.to in .*config.json cannot be used: it is no place/],
      [{ endpoint: 'https://s3.example?token=secret' }, /^publish.endpoint in .* cannot be used: it has/],
      [{ catalog: { uri: 'https://me:secret@here' } }, /^publish.catalog.uri in .* cannot be used: it holds/],
      ['s3://me:secret@bucket', /^publish in .* cannot be used; it takes an object/],
    ] as const) {
      expect(read(publish)).toThrow(message);
      expect(read(publish)).not.toThrow(/secret/);
    }
  });

  it('names the setting that holds a wrong member', () => {
    const read = (publish: unknown, flags: object = {}) => {
      const cwd = folderWith({ 'lotlake.config.json': JSON.stringify({ publish }) });
      return () => readConfig({ publish: flags }, { env: {}, cwd });
    };
    expect(read({ catalog: { uri: 'ftp://here' } })).toThrow(
      /^publish.catalog.uri in .*config.json is "ftp:\/\/here": it is no URL of http/,
    );
    expect(read({ catalog: { uri: 'https://here', foo: 1 } })).toThrow(
      /^publish.catalog.foo in .*config.json: there is no such setting/,
    );
    expect(read({ catalog: { warehouse: 'w' } })).toThrow(/^publish.catalog.uri is missing; it takes a URL/);
    expect(read('s3://one', { region: 'here' })).toThrow(
      /^publish in .*config.json is "s3:\/\/one"; it takes an object such as [^;]*$/,
    );
  });
});
