import { z } from 'zod';
import { bytesOfAmount, MEMORY } from './memory.js';
import {
  catalogProblem,
  endpointProblem,
  keyProblem,
  LOCAL,
  lineageProblem,
  placeProblem,
  urlProblem,
  webProblem,
} from './problems.js';

/** Complete passes of a stream that are kept where the configuration names none. */
export const DEFAULT_PASSES = 3;

/** Seconds without a renewal after which the lock of a holder elsewhere may be taken over, where nothing else is set. */
export const LEASE = 120;

/** Numbers as people write them; no hexadecimal, and nothing that is read as 0, 1 or infinity by chance. */
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;
const read = (given: unknown): unknown =>
  typeof given === 'string' && NUMBER.test(given.trim()) ? Number(given) : given;

// The messages of all schemas go on with the sentence `<place> is <value>`.
const takes = (what: string): string => `; it takes ${what}`;

const between = (least: number, most: number, what: string) =>
  z.preprocess(read, z.number(takes(what)).min(least, takes(what)).max(most, takes(what)));
const whole = (least: number, most: number, what = `a whole number from ${least} to ${most}`) =>
  z.preprocess(read, z.int(takes(what)).min(least, takes(what)).max(most, takes(what)));
const count = (what = 'a whole number from 1 on') => whole(1, 1e9, what);
const seconds = () => between(0.001, WEEK, `seconds from 0.001 to ${WEEK}`);
const text = (what: string, problemOf: (given: string) => string | undefined = () => undefined) =>
  z.string(takes(what)).superRefine((given, context) => {
    const problem = problemOf(given);
    if (problem !== undefined) context.addIssue({ code: 'custom', message: `: ${problem}` });
  });

const DAYS = 36_500;
const WEEK = 7 * 86_400;

/** Sources of the service (service.md), with their names in the feed. */
export const sources = { 1: 'iaai_com', 3: 'copart_com', 12: 'encar_com' } as const;
const SOURCES = Object.keys(sources).join(', ');
const SOURCE_LIST = takes(`some of ${SOURCES}, such as 1,3`);
const AMOUNT = takes('an amount such as 800MB, at least the 700 MB that a night of the real service takes');
const COMMAND = takes('a command such as spark-submit --master spark://host:7077');
const HAPPENINGS = ['failure', 'hold', 'alarm', 'success'] as const;
const HAPPENING_LIST = takes(`some of ${HAPPENINGS.join(', ')}`);
const PASSES = 'a whole number from 1 on, or one by stream such as {"cars": 2}';

/** Every setting with its default and what it does. */
export const settings = z.strictObject({
  baseUrl: text('a URL such as https://host/api', urlProblem)
    .optional()
    .describe('Base URL of the service with its path prefix.'),
  origin: text('the name or the URL of a service')
    .min(1, takes('the name or the URL of a service'))
    .optional()
    .describe(
      'Name of the service, which the lake keeps: a run against another one is refused. By default the base URL; set it to the old URL where the same service has moved.',
    ),
  apiKey: text('the key of the service', keyProblem)
    .optional()
    .describe('Key sent as x-api-key; environment or key file only.'),
  output: text('the path of a folder')
    .default('output')
    .describe('Folder that holds landing, lake and reports; by default output/sandbox for the sandbox.'),
  rate: between(0.001, 1e6, 'requests a second from 0.001 to 1000000')
    .default(1)
    .describe('Requests a second for the whole process.'),
  concurrency: whole(1, 64).default(4).describe('Requests in flight at once.'),
  perPage: whole(1, 5000).default(1000).describe('Records asked for a page; each endpoint caps it.'),
  paging: z
    .enum(['pages', 'scroll'], takes('pages or scroll'))
    .default('pages')
    .describe('How /cars is walked: by page, or along the scroll form of the feed.'),
  sources: z
    .preprocess(
      (given) => (typeof given === 'string' ? given.split(',') : given),
      z.array(z.preprocess(read, z.number(SOURCE_LIST)), SOURCE_LIST).min(1, SOURCE_LIST),
    )
    .superRefine((ids, context) => {
      const twice = ids.find((id, i) => ids.indexOf(id) !== i);
      const unknown = ids.find((id) => !(id in sources));
      if (unknown !== undefined)
        context.addIssue({
          code: 'custom',
          message: `: there is no source ${unknown}; there are ${SOURCES}`,
        });
      else if (twice !== undefined)
        context.addIssue({ code: 'custom', message: `: it names ${twice} twice` });
    })
    .optional()
    .describe('Sources to ask for one by one, such as 1,3; all that the key has, together, by default.'),
  memory: z
    .string(AMOUNT)
    .regex(/^\d+(\.\d+)?\s*(KB|MB|GB|KiB|MiB|GiB)$/i, AMOUNT)
    .refine(
      (amount) => bytesOfAmount(amount) >= MEMORY.least && bytesOfAmount(amount) <= MEMORY.largest,
      AMOUNT,
    )
    .optional()
    .describe(
      'Memory limit of DuckDB, at least 700MB; the process takes up to 900 MB more. By default a quarter of what the machine or its container has, from 700MB to 4GB.',
    ),
  threads: whole(1, 256).optional().describe('Threads of DuckDB; all cores by default.'),
  log: z
    .enum(['silent', 'warn', 'info', 'debug'], takes('silent, warn, info or debug'))
    .default('info')
    .describe('What is said on stderr: nothing, warnings, steps and progress, or stack traces too.'),
  logFormat: z
    .enum(['text', 'json'], takes('text or json'))
    .optional()
    .describe('Form of the log: text, or a JSON object a line; text by default, and JSON with --json.'),
  logFile: text('the path of a file')
    .optional()
    .describe('File to which the log is appended, too, with a timestamp on each line.'),
  timeout: seconds()
    .default(120)
    .describe(
      'Seconds without a byte after which a request is given up; it is after five times as long in any case.',
    ),
  retryBudget: seconds()
    .default(900)
    .describe('Seconds for which one request is tried again before the run ends.'),
  closingBudget: count().default(500).describe('Requests that one closing run may make.'),
  referenceDays: between(0, DAYS, `days from 0 to ${DAYS}`)
    .default(7)
    .describe('Age in days at which nightly reads the catalog and the reference lists again.'),
  shrinkGuard: between(Number.MIN_VALUE, 1, 'a share above 0 and up to 1')
    .default(0.2)
    .describe("Share of a source's active vehicles that one run may archive for absence."),
  rejectAlarm: between(0, 1, 'a share from 0 to 1')
    .default(0.01)
    .describe(
      'Share of the records of a stream that are rejected, or loaded without a value that was rejected, above which data_health raises an alarm.',
    ),
  onDrift: z
    .enum(['report', 'hold'], takes('report or hold'))
    .default('report')
    .describe(
      'What a run does that meets members which lotlake does not know and no run has told of: report them once and keep them in extra, or hold.',
    ),
  minimumGroup: count()
    .default(5)
    .describe('Fewest values that a statistic of the marts rests on; smaller groups show their count alone.'),
  relistingDays: whole(0, DAYS, `whole days from 0 to ${DAYS}`)
    .default(30)
    .describe(
      'Days after a sale within which another offer of the vehicle shows that the sale did not hold.',
    ),
  estimateAlarm: between(Number.MIN_VALUE, 10, 'a share above 0')
    .default(0.25)
    .describe(
      'Median error of the estimates of a manufacturer in the back-test, as a share, above which its estimates say that they are unreliable.',
    ),
  seeds: text('the path of a folder')
    .optional()
    .describe(
      'Folder with own seeds, such as currency_rules.csv; each stands in the place of the one of the same name in sql/seeds.',
    ),
  models: text('the path of a folder')
    .optional()
    .describe(
      'Folder with your own models, a .sql and a .yml each, and checks in its folder checks; by default models beside the file of settings, if it is there.',
    ),
  spark: z
    .strictObject(
      {
        submit: z
          .preprocess(
            (given) => (typeof given === 'string' ? given.trim().split(/\s+/) : given),
            z.array(z.string(COMMAND).min(1, COMMAND), COMMAND).min(1, COMMAND),
          )
          .default(['spark-sql'])
          .describe(
            'Command that runs a file of SQL on Spark 4: spark-sql or spark-submit with its options, as one text or as a list.',
          ),
      },
      takes('an object such as {"submit": "spark-sql"}'),
    )
    .prefault({})
    .describe('How Spark is run; only commands with --engine spark need it.'),
  keepSnapshots: count()
    .default(7)
    .describe('Published snapshots that vacuum keeps, the current one among them.'),
  keepDays: whole(0, DAYS, `whole days from 0 to ${DAYS}`)
    .default(7)
    .describe('Days (UTC) of which vacuum keeps the last published snapshot, beside keepSnapshots.'),
  keepPasses: z
    .union([count(PASSES), z.record(z.string(), count(PASSES))], takes(PASSES))
    .default(DEFAULT_PASSES)
    .describe(
      'Complete passes of a stream that vacuum keeps, with all passes since; by stream in a file, or one number.',
    ),
  lease: seconds()
    .default(LEASE)
    .describe(
      'Seconds without a sign of life after which the lock of a run in another container or on another host is taken over.',
    ),
  publish: z
    .strictObject(
      {
        to: text('a place such as s3://bucket/prefix', placeProblem)
          .optional()
          .describe(
            'Mirror in object storage, to which every run pushes what it published, such as s3://bucket/prefix.',
          ),
        endpoint: text('the URL of an S3 service', endpointProblem)
          .optional()
          .describe('URL of the S3 service; that of AWS by default.'),
        region: text('the name of a region')
          .min(1, takes('the name of a region'))
          .optional()
          .describe("Region of the bucket; by default the one of the SDK's own configuration (AWS_REGION)."),
        pathStyle: z
          .union([z.boolean(), z.stringbool()], takes('true or false'))
          .default(false)
          .describe('Name the bucket in the path of a URL and not in its host, as MinIO and Ceph need it.'),
        concurrency: whole(1, 64).default(8).describe('Objects that are sent or fetched at once.'),
        landing: z
          .union([z.boolean(), z.stringbool()], takes('true or false'))
          .default(false)
          .describe('Push sealed passes of landing, too.'),
        catalog: z
          .strictObject(
            {
              uri: text('a URL such as https://host/iceberg', catalogProblem).describe(
                'Base URL of an Iceberg REST catalog, before /v1.',
              ),
              warehouse: text('the name of a warehouse').optional().describe('Warehouse of the catalog.'),
              namespace: text('a name such as lotlake')
                .regex(/^\w+(\.\w+)*$/, takes('names of letters, digits and _, separated by dots'))
                .default('lotlake')
                .describe('Namespace of the tables.'),
            },
            takes('an object such as {"uri": "https://host/iceberg"}'),
          )
          .optional()
          .describe(
            'Iceberg REST catalog that every push updates; its token comes from LOTLAKE_CATALOG_TOKEN alone.',
          ),
      },
      takes('an object such as {"to": "s3://bucket/prefix"}'),
    )
    .prefault({})
    .describe(
      'Where the mirror of the lake is, and how it is reached; credentials come from the environment of the SDK.',
    ),
  metrics: text('the path of a file that ends with .prom', (given) =>
    given.endsWith('.prom') ? undefined : 'its name does not end with .prom, so that no collector reads it',
  )
    .optional()
    .describe(
      'File of metrics that every run replaces, for the textfile collector of the Prometheus node exporter; its name ends with .prom.',
    ),
  lineage: z
    .strictObject(
      {
        to: text('the path of a file or a URL', lineageProblem)
          .optional()
          .describe(
            'File to which every run appends OpenLineage events, one a line, or URL to which it posts them.',
          ),
        namespace: text('the name of a namespace')
          .min(1, takes('the name of a namespace'))
          .default('lotlake')
          .describe('Namespace of the jobs in OpenLineage events.'),
        key: text('the key of the URL', keyProblem)
          .optional()
          .describe('Key that is sent as bearer token with OpenLineage events.'),
      },
      takes('an object such as {"to": "https://host/api/v1/lineage"}'),
    )
    .prefault({})
    .superRefine(({ to, key }, context) => {
      if (key === undefined || to === undefined || !to.startsWith('http:')) return;
      if (!LOCAL.includes(new URL(to).hostname))
        context.addIssue({
          code: 'custom',
          path: ['to'],
          message: ': it is not https, and lineage.key would travel in the clear',
        });
    })
    .describe('Where OpenLineage events of every run go.'),
  notify: z
    .strictObject(
      {
        url: text('the URL of a webhook', webProblem)
          .optional()
          .describe(
            'Webhook that is told of runs, as JSON with a text; it may hold a secret and is shown nowhere.',
          ),
        on: z
          .preprocess(
            (given) => (typeof given === 'string' ? given.split(',').map((name) => name.trim()) : given),
            z.array(z.enum(HAPPENINGS, HAPPENING_LIST), HAPPENING_LIST).min(1, HAPPENING_LIST),
          )
          .default(['failure', 'hold', 'alarm'])
          .describe('What the webhook is told of: some of failure, hold, alarm and success.'),
      },
      takes('an object such as {"url": "https://host/path"}'),
    )
    .prefault({})
    .describe('Whom a run tells how it ended.'),
  iceberg: z
    .union([z.boolean(), z.stringbool()], takes('true or false'))
    .default(false)
    .describe(
      'Write Apache Iceberg metadata into the tables of each snapshot, so that other engines open lake/current/<table> with its history.',
    ),
  allowShrink: z
    .union([z.boolean(), z.stringbool()], takes('true or false'))
    .default(false)
    .describe('Archive for absence past the shrink guard.'),
});

/** A setting that holds one value; a member of an object of settings has the name `publish.to`. */
export interface Setting {
  readonly name: string;
  /** Variable of the environment that gives it, such as `LOTLAKE_PUBLISH_TO`. */
  readonly variable: string;
  readonly description: string;
  /** Value where none is given; undefined where there is no such value. */
  readonly standard: unknown;
}

/** Every setting, in the order of the schema. */
export const allSettings: readonly Setting[] = Object.entries(settings.shape).flatMap(([name, schema]) =>
  settingsIn(name, schema),
);

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
  const { description = '' } = z.globalRegistry.get(schema) ?? {};
  return [{ name, variable, description, standard }];
}

/** Whether a name is the one of an object of settings, such as `publish`. */
const isObjectOfSettings = (name: string): boolean =>
  allSettings.some((setting) => setting.name.startsWith(`${name}.`));

/** A setting as the members that it is made of: `publish.to` and so on, or itself. */
export function membersOf(name: string, value: unknown): [name: string, value: unknown][] {
  if (!isObjectOfSettings(name) || !isObject(value)) return [[name, value]];
  return Object.entries(value)
    .filter(([, given]) => given !== undefined)
    .flatMap(([member, given]) => membersOf(`${name}.${member}`, given));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Settings made from members: what {@link membersOf} took apart. What is no object stays, and is refused as such. */
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
