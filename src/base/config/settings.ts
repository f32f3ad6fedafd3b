import { z } from 'zod';
import { isObject } from './json.js';
import { MEMORY, parseBytes } from './memory.js';
import { packageFile } from './package-root.js';
import {
  baseUrlProblem,
  databaseProblem,
  endpointProblem,
  keyProblem,
  LOCAL,
  lineageProblem,
  placeProblem,
  smtpProblem,
  storageProblem,
  topicProblem,
  webProblem,
} from './problems.js';

/** Complete passes of a stream that are kept by default. */
export const DEFAULT_PASSES = 3;

/** Seconds without a renewal after which the lock of a holder elsewhere may be taken over by default. */
export const LEASE = 120;

/** Numbers as people write them: no hexadecimal, and no text that `Number` reads as 0, 1 or infinity by chance. */
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
const read = (given: unknown): unknown =>
  typeof given === 'string' && NUMBER.test(given.trim()) ? Number(given) : given;

// The messages of all schemas continue the sentence `<place> is <value>`.
const takes = (what: string): string => `; it takes ${what}`;

/** A check that adds what is wrong with a value. */
const refusing =
  <T>(problemOf: (given: T) => string | undefined) =>
  (given: T, context: z.RefinementCtx): void => {
    const problem = problemOf(given);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: `: ${problem}` });
  };

const between = (least: number, most: number, what: string) =>
  z.preprocess(read, z.number(takes(what)).min(least, takes(what)).max(most, takes(what)));
const whole = (least: number, most: number, what = `a whole number from ${least} to ${most}`) =>
  z.preprocess(read, z.int(takes(what)).min(least, takes(what)).max(most, takes(what)));
const count = (what = 'a whole number from 1 on') => whole(1, 1e9, what);
const days = () => whole(0, DAYS, `whole days from 0 to ${DAYS}`);
const seconds = () => between(0.001, WEEK, `seconds from 0.001 to ${WEEK}`);
const text = (what: string, problemOf: (given: string) => string | undefined = () => undefined) =>
  z.string(takes(what)).superRefine(refusing(problemOf));
const name = (what: string) => z.string(takes(what)).min(1, takes(what));
const yes = () => z.union([z.boolean(), z.stringbool()], takes('true or false')).default(false);
const oneOf = <const T extends readonly string[]>(...names: T) =>
  z.enum(names, takes(names.join(', ').replace(/, ([\w:]+)$/, ' or $1')));
/** A list; one text has its elements between separators. */
const list = <T extends z.ZodType>(separator: RegExp, of: T, what: string) =>
  z.preprocess(
    (given) => (typeof given === 'string' ? given.trim().split(separator) : given),
    z.array(of, takes(what)).min(1, takes(what)),
  );
/** A base URL that a key of the environment is sent to. */
const baseUrl = (example: string, variable: string) =>
  text(`a URL such as ${example}`, (given) => baseUrlProblem(given, example, variable));
const group = <T extends z.core.$ZodShape>(members: T, example: string) =>
  z.strictObject(members, takes(`an object such as ${example}`));

const COMMA = /\s*,\s*/;
const DAYS = 36_500;
const WEEK = 7 * 86_400;

/** Sources of the service (service.md#enumerations), with their names in the feed. */
export const sources = { 1: 'iaai_com', 3: 'copart_com', 12: 'encar_com' } as const;
const SOURCES = Object.keys(sources).join(', ');
const SOURCE_LIST = `some of ${SOURCES}, such as 1,3`;
const AMOUNT = takes('an amount such as 800MB, at least the 700 MB that a night of the real service takes');
const EXAMPLES = 'names of examples, such as reserve_gap';
const VIEWS = 'names of views, such as vehicle_timeline';
const COMMAND = 'a command such as spark-submit --master spark://host:7077';
const HAPPENINGS = ['failure', 'hold', 'alarm', 'watch', 'car', 'success'] as const;
const HAPPENING_LIST = `some of ${HAPPENINGS.join(', ')}`;
const CHANNELS =
  'a channel by its name, such as {"phone": {"kind": "ntfy", "url": "https://ntfy.sh/topic", "on": ["car"]}}';
const CHAT = 'the id of a chat, or @name of a public one';
const MAILS = 'addresses such as desk@example.com';
const SYNC =
  'a database by its name, such as {"site": {"database": "postgres://user@host/site", "tables": ["lots"]}}';
const TABLES =
  'names of tables and marts, or an object such as {"lots": {"columns": ["vin"], "indexes": ["vin"]}}';
const COLUMNS = 'names of columns';
/** Names of tables that leave room for what stands behind them while they are made. */
const SYNCED = /^[a-z_][a-z0-9_]{0,52}$/;
const IDENTIFIER = /^[a-z_][a-z0-9_]{0,62}$/;
/** Names of channels, which are names of files, too. */
const CHANNEL = /^[a-z][a-z0-9_-]{0,39}$/;
const PASSES = 'a whole number from 1 on, or one by stream such as {"cars": 2}';

const happenings = () =>
  list(COMMA, z.enum(HAPPENINGS, takes(HAPPENING_LIST)), HAPPENING_LIST).default([
    'failure',
    'hold',
    'alarm',
    'watch',
    'car',
  ]);
const mail = () => z.email(takes(MAILS));

/** What every channel may say: what it is told of, and where its secret lies. */
const routes = {
  on: happenings(),
  /** Watched searches that the channel is told of; all by default. */
  searches: z.array(z.string()).optional(),
  /** A file with the secret of the channel: the token of ntfy or Telegram, the password of the mail server. */
  secretFile: text('the path of a file').optional(),
};

const channel = z.discriminatedUnion(
  'kind',
  [
    z.strictObject({ kind: z.literal('webhook'), url: text('the URL of a webhook', webProblem), ...routes }),
    z.strictObject({
      kind: z.literal('ntfy'),
      url: text('the URL of a topic, such as https://ntfy.sh/topic', topicProblem),
      ...routes,
    }),
    z.strictObject({
      kind: z.literal('telegram'),
      chat: z.union([z.int(), z.string().regex(/^(-?\d+|@\w+)$/, takes(CHAT))], takes(CHAT)),
      server: baseUrl('https://api.telegram.org', 'LOTLAKE_TELEGRAM_TOKEN').default(
        'https://api.telegram.org',
      ),
      ...routes,
    }),
    z.strictObject({
      kind: z.literal('mail'),
      to: z.preprocess(
        (given) => (typeof given === 'string' ? [given] : given),
        z.array(mail(), takes(MAILS)).min(1, takes(MAILS)),
      ),
      /** The first address of `to` by default. */
      from: mail().optional(),
      server: text('a mail server, such as smtps://user@mail.example.com', smtpProblem),
      ...routes,
    }),
  ],
  takes('a kind of webhook, ntfy, telegram or mail'),
);

/** Every setting with its default; site/settings.json says what each does. */
export const settings = z.strictObject({
  baseUrl: baseUrl('https://host/api', 'LOTLAKE_API_KEY').optional(),
  origin: name('the name or the URL of a service').optional(),
  apiKey: text('the key of the service', keyProblem).optional(),
  output: text('the path of a folder').default('output'),
  rate: between(0.001, 1e6, 'requests a second from 0.001 to 1000000').default(1),
  concurrency: whole(1, 64).default(4),
  perPage: whole(1, 5000).default(1000),
  paging: oneOf('pages', 'scroll').default('pages'),
  sources: list(COMMA, z.preprocess(read, z.number(takes(SOURCE_LIST))), SOURCE_LIST)
    .superRefine(refusing(sourcesProblem))
    .optional(),
  memory: z
    .string(AMOUNT)
    .regex(/^\d+(\.\d+)?\s*(KB|MB|GB|KiB|MiB|GiB)$/i, AMOUNT)
    .refine((amount) => parseBytes(amount) >= MEMORY.least && parseBytes(amount) <= MEMORY.largest, AMOUNT)
    .optional(),
  threads: whole(1, 256).optional(),
  log: oneOf('silent', 'warn', 'info', 'debug').default('info'),
  logFormat: oneOf('text', 'json').optional(),
  logFile: text('the path of a file').optional(),
  timeout: seconds().default(120),
  retryBudget: seconds().default(900),
  closingBudget: count().default(500),
  referenceDays: between(0, DAYS, `days from 0 to ${DAYS}`).default(7),
  rejectGuard: between(Number.MIN_VALUE, 1, 'a share above 0 and up to 1').default(0.2),
  shrinkGuard: between(Number.MIN_VALUE, 1, 'a share above 0 and up to 1').default(0.2),
  rejectAlarm: between(0, 1, 'a share from 0 to 1').default(0.01),
  largestRecord: whole(1, 64).default(4),
  onDrift: oneOf('report', 'hold').default('report'),
  minimumGroup: count().default(5),
  relistingDays: days().default(30),
  estimateAlarm: between(Number.MIN_VALUE, 10, 'a share above 0').default(0.25),
  seeds: text('the path of a folder').optional(),
  models: text('the path of a folder').optional(),
  costs: text('the path of a folder').optional(),
  examples: list(COMMA, z.string(takes(EXAMPLES)).min(1, takes(EXAMPLES)), EXAMPLES).optional(),
  modelTimeout: seconds().default(600),
  asFiles: list(COMMA, z.string(takes(VIEWS)).min(1, takes(VIEWS)), VIEWS).optional(),
  /** How Spark is run; only commands with `--engine spark` need it. */
  spark: group(
    { submit: list(/\s+/, z.string(takes(COMMAND)).min(1, takes(COMMAND)), COMMAND).default(['spark-sql']) },
    '{"submit": "spark-sql"}',
  ).prefault({}),
  keepSnapshots: count().default(7),
  keepDays: days().default(7),
  keepPasses: z
    .union([count(PASSES), z.record(z.string(), count(PASSES))], takes(PASSES))
    .default(DEFAULT_PASSES),
  keyframeDays: days().default(7),
  lease: seconds().default(LEASE),
  /** The mirror of the lake and how it is reached; credentials come from the environment of the SDK. */
  publish: group(
    {
      to: text('a place such as s3://bucket/prefix', placeProblem).optional(),
      endpoint: text('the URL of an S3 service', endpointProblem).optional(),
      region: name('the name of a region').optional(),
      pathStyle: yes(),
      concurrency: whole(1, 64).default(8),
      landing: yes(),
      encryption: oneOf('AES256', 'aws:kms', 'aws:kms:dsse').optional(),
      kmsKey: name('the id or ARN of a key of KMS').optional(),
      storageClass: text('the name of a storage class, such as STANDARD_IA', storageProblem).optional(),
      /** Iceberg REST catalog that every push updates; its token comes from LOTLAKE_CATALOG_TOKEN alone. */
      catalog: group(
        {
          uri: baseUrl('https://host/iceberg', 'LOTLAKE_CATALOG_TOKEN'),
          warehouse: text('the name of a warehouse').optional(),
          namespace: text('a name such as lotlake')
            .regex(/^\w+(\.\w+)*$/, takes('names of letters, digits and _, separated by dots'))
            .default('lotlake'),
        },
        '{"uri": "https://host/iceberg"}',
      ).optional(),
    },
    '{"to": "s3://bucket/prefix"}',
  )
    .prefault({})
    .refine(({ encryption = '', kmsKey }) => kmsKey === undefined || encryption.startsWith('aws:kms'), {
      path: ['kmsKey'],
      error: ': only publish.encryption aws:kms or aws:kms:dsse uses a key',
    }),
  metrics: text('the path of a file that ends with .prom', (given) =>
    given.endsWith('.prom') ? undefined : 'its name does not end with .prom, so that no collector reads it',
  ).optional(),
  /** Where OpenLineage events of every run go. */
  lineage: group(
    {
      to: text('the path of a file or a URL', lineageProblem).optional(),
      namespace: name('the name of a namespace').default('lotlake'),
      key: text('the key of the URL', keyProblem).optional(),
    },
    '{"to": "https://host/api/v1/lineage"}',
  )
    .prefault({})
    .refine(
      ({ to = '', key }) =>
        key === undefined ||
        !(to.startsWith('http:') && URL.canParse(to)) ||
        LOCAL.includes(new URL(to).hostname),
      { path: ['to'], error: ': it is not https, and lineage.key would travel in the clear' },
    ),
  /** Who is notified of the end of a run. */
  notify: group(
    {
      url: text('the URL of a webhook', webProblem).optional(),
      on: happenings(),
      channels: z
        .record(
          z.string().regex(CHANNEL, takes('names of small letters, digits, _ and -')),
          channel,
          takes(CHANNELS),
        )
        .default({}),
    },
    '{"url": "https://host/path"}',
  ).prefault({}),
  /** Databases that follow the lake, by the name that `lotlake sync` calls them. */
  sync: z
    .record(
      z.string().regex(IDENTIFIER, takes('names of small letters, digits and _')),
      group(
        {
          database: text('an address such as postgres://user@host:5432/site', databaseProblem),
          passwordFile: text('the path of a file').optional(),
          schema: text('the name of a schema')
            .regex(IDENTIFIER, takes('a name of small letters, digits and _'))
            .default('lotlake'),
          tables: z.preprocess(
            (given) => (Array.isArray(given) ? Object.fromEntries(given.map((name) => [name, {}])) : given),
            z
              .record(
                z.string().regex(SYNCED, takes(TABLES)),
                group(
                  {
                    columns: z.array(z.string(), takes(COLUMNS)).optional(),
                    /** Columns of each index beside the key, with + between those of one. */
                    indexes: z.array(z.string(), takes(COLUMNS)).default([]),
                  },
                  '{"indexes": ["vin"]}',
                ),
                takes(TABLES),
              )
              .refine((tables) => Object.keys(tables).length > 0, takes(TABLES)),
          ),
          gone: oneOf('keep', 'delete').default('keep'),
        },
        '{"database": "postgres://user@host/site", "tables": ["lots"]}',
      ),
      takes(SYNC),
    )
    .default({}),
  iceberg: yes(),
  allowShrink: yes(),
  allowSkew: yes(),
});

function sourcesProblem(ids: readonly number[]): string | undefined {
  const unknown = ids.find((id) => !(id in sources));
  if (unknown !== undefined) return `there is no source ${unknown}; there are ${SOURCES}`;
  const twice = ids.find((id, i) => ids.indexOf(id) !== i);
  return twice === undefined ? undefined : `it names ${twice} twice`;
}

/** A setting that holds one value; a member of an object of settings has the name `publish.to`. */
export interface Setting {
  readonly name: string;
  /** Variable of the environment that gives it, such as `LOTLAKE_PUBLISH_TO`. */
  readonly variable: string;
  /** Default value; undefined if there is none. */
  readonly standard: unknown;
}

/** Every setting, in the order of the schema. */
export const allSettings: readonly Setting[] = Object.entries(settings.shape).flatMap(([name, schema]) =>
  settingsIn(name, schema),
);

/** What a setting does. */
export const sentenceOf = (name: string): string =>
  Reflect.get(JSON.parse(packageFile('site/settings.json')), name);

function settingsIn(name: string, schema: z.core.$ZodType): Setting[] {
  let inner = schema;
  let standard: unknown;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodDefault || inner instanceof z.ZodPrefault) {
    if (inner instanceof z.ZodDefault) standard = inner.def.defaultValue;
    inner = inner.unwrap();
  }
  if (inner instanceof z.ZodObject)
    return Object.entries(inner.shape).flatMap(([member, of]) => settingsIn(`${name}.${member}`, of));
  const variable = `LOTLAKE_${name.replaceAll(/[A-Z]|\./g, (at) => `_${at === '.' ? '' : at}`).toUpperCase()}`;
  return [{ name, variable, standard }];
}

/** Whether a name stands for an object of settings, such as `publish`. */
const isObjectOfSettings = (name: string): boolean =>
  allSettings.some((setting) => setting.name.startsWith(`${name}.`));

/** The members of an object of settings, such as `publish.to`; any other setting as it is. */
export function membersOf(name: string, value: unknown): [name: string, value: unknown][] {
  if (!isObjectOfSettings(name) || !isObject(value)) return [[name, value]];
  return Object.entries(value)
    .filter(([, given]) => given !== undefined)
    .flatMap(([member, given]) => membersOf(`${name}.${member}`, given));
}

/**
 * Nested settings from their members, as {@link membersOf} gives them. A value in the place of an object stays, and the
 * schema refuses it.
 */
export function withMembers(members: Iterable<readonly [name: string, value: unknown]>): object {
  const made: Record<string, unknown> = {};
  for (const [name, value] of members) {
    const path = name.split('.');
    put(made, isObjectOfSettings(path[0] ?? '') ? path : [name], value);
  }
  return made;
}

function put(into: Record<string, unknown>, [name = '', ...path]: readonly string[], value: unknown): void {
  if (path.length === 0) into[name] = value;
  else {
    into[name] ??= {};
    if (isObject(into[name])) put(into[name], path, value);
  }
}
