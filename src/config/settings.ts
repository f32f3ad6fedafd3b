import { z } from 'zod';
import { bytesOfAmount, MEMORY } from './memory.js';

/** Complete passes of a stream that are kept where the configuration names none. */
export const DEFAULT_PASSES = 3;

/** Seconds without a renewal after which the lock of a holder elsewhere may be taken over, where nothing else is set. */
export const LEASE = 120;

/** What a setting is, besides its type and default. */
interface Facts {
  /** What it does, in a sentence. */
  readonly sentence: string;
  /** What it takes; a message says so where something else was given. */
  readonly takes: string;
  /** Its variable of the environment. */
  readonly env?: `LOTLAKE_${string}`;
  /** Whether messages leave out what was given. */
  readonly isSecret?: true;
}

/** Facts of every setting by its schema. */
const facts = z.registry<Facts>();

/** Numbers as people write them; no hexadecimal, and nothing that is read as 0, 1 or infinity by chance. */
const NUMBER = /^[+-]?(\d+(\.\d*)?|\.\d+)(e[+-]?\d+)?$/i;

const number = z.preprocess(
  (given) => (typeof given === 'string' && NUMBER.test(given.trim()) ? Number(given) : given),
  z.number(),
);
const between = (least: number, most: number) => number.pipe(z.number().min(least).max(most));
const whole = (least: number, most: number) => number.pipe(z.int().min(least).max(most));

const DAYS = 36_500;
const WEEK = 7 * 86_400;
const SECONDS = `seconds from 0.001 to ${WEEK}`;

/** Sources of the service (service.md), with their names in the feed. */
export const sources = { 1: 'iaai_com', 3: 'copart_com', 12: 'encar_com' } as const;
const SOURCES = Object.keys(sources);

/** Every setting with its sentence, what it takes, its variable and its default. */
export const settings = z.strictObject({
  baseUrl: z
    .string()
    .superRefine((given, context) => {
      const message = urlProblem(given);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .optional()
    .register(facts, {
      sentence: 'Base URL of the service with its path prefix.',
      takes: 'a URL such as https://host/api',
      env: 'LOTLAKE_BASE_URL',
    }),
  origin: z.string().min(1).optional().register(facts, {
    sentence:
      'Name of the service, which the lake keeps: a run against another one is refused. By default the base URL; set it to the old URL where the same service has moved.',
    takes: 'the name or the URL of a service',
    env: 'LOTLAKE_ORIGIN',
  }),
  apiKey: z
    .string()
    .superRefine((given, context) => {
      const message = keyProblem(given);
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .optional()
    .register(facts, {
      sentence: 'Key sent as x-api-key; environment or key file only.',
      takes: 'the key of the service',
      env: 'LOTLAKE_API_KEY',
      isSecret: true,
    }),
  output: z.string().default('output').register(facts, {
    sentence: 'Folder that holds landing, lake and reports; by default output/sandbox for the sandbox.',
    takes: 'the path of a folder',
    env: 'LOTLAKE_OUTPUT',
  }),
  rate: between(0.001, 1e6).optional().register(facts, {
    sentence: 'Requests a second for the whole process; 1 against a real service.',
    takes: 'requests a second from 0.001 to 1000000',
    env: 'LOTLAKE_RATE',
  }),
  concurrency: whole(1, 64).default(4).register(facts, {
    sentence: 'Requests in flight at once.',
    takes: 'a whole number from 1 to 64',
    env: 'LOTLAKE_CONCURRENCY',
  }),
  perPage: whole(1, 5000).default(1000).register(facts, {
    sentence: 'Records asked for a page; each endpoint caps it.',
    takes: 'a whole number from 1 to 5000',
    env: 'LOTLAKE_PER_PAGE',
  }),
  paging: z.enum(['pages', 'scroll']).default('pages').register(facts, {
    sentence: 'How /cars is walked: by page, or along the scroll form of the feed.',
    takes: 'pages or scroll',
    env: 'LOTLAKE_PAGING',
  }),
  sources: z
    .preprocess((given) => (typeof given === 'string' ? given.split(',') : given), z.array(number).min(1))
    .superRefine((ids, context) => {
      const twice = ids.find((id, i) => ids.indexOf(id) !== i);
      const unknown = ids.find((id) => !(id in sources));
      const message =
        unknown !== undefined
          ? `there is no source ${unknown}; there are ${SOURCES.join(', ')}`
          : twice !== undefined
            ? `it names ${twice} twice`
            : undefined;
      if (message !== undefined) context.addIssue({ code: 'custom', message });
    })
    .optional()
    .register(facts, {
      sentence: 'Sources to ask for one by one, such as 1,3; all that the key has, together, by default.',
      takes: `some of ${SOURCES.join(', ')}, such as 1,3`,
      env: 'LOTLAKE_SOURCES',
    }),
  memory: z
    .string()
    .regex(/^\d+(\.\d+)?\s*(KB|MB|GB|KiB|MiB|GiB)$/i)
    .refine((amount) => bytesOfAmount(amount) >= MEMORY.least && bytesOfAmount(amount) <= MEMORY.largest)
    .optional()
    .register(facts, {
      sentence:
        'Memory limit of DuckDB, at least 700MB; the process takes up to 900 MB more. By default a quarter of what the machine or its container has, from 700MB to 4GB.',
      takes: 'an amount such as 800MB, at least the 700 MB that a night of the real service takes',
      env: 'LOTLAKE_MEMORY',
    }),
  threads: whole(1, 256).optional().register(facts, {
    sentence: 'Threads of DuckDB; all cores by default.',
    takes: 'a whole number from 1 to 256',
    env: 'LOTLAKE_THREADS',
  }),
  log: z.enum(['silent', 'warn', 'info', 'debug']).default('info').register(facts, {
    sentence: 'What is said on stderr: nothing, warnings, steps and progress, or stack traces too.',
    takes: 'silent, warn, info or debug',
    env: 'LOTLAKE_LOG',
  }),
  timeout: between(0.001, WEEK).default(120).register(facts, {
    sentence:
      'Seconds without a byte after which a request is given up; it is after five times as long in any case.',
    takes: SECONDS,
  }),
  retryBudget: between(0.001, WEEK).default(900).register(facts, {
    sentence: 'Seconds for which one request is tried again before the run ends.',
    takes: SECONDS,
  }),
  closingBudget: whole(1, 1e9).default(500).register(facts, {
    sentence: 'Requests that one closing run may make.',
    takes: 'a whole number from 1 on',
  }),
  referenceDays: between(0, DAYS)
    .default(7)
    .register(facts, {
      sentence: 'Age in days at which nightly reads the catalog and the reference lists again.',
      takes: `days from 0 to ${DAYS}`,
    }),
  shrinkGuard: between(Number.MIN_VALUE, 1).default(0.2).register(facts, {
    sentence: "Share of a source's active vehicles that one run may archive for absence.",
    takes: 'a share above 0 and up to 1',
  }),
  rejectAlarm: between(0, 1).default(0.01).register(facts, {
    sentence:
      'Share of the records of a stream that are rejected, or loaded without a value that was rejected, above which data_health raises an alarm.',
    takes: 'a share from 0 to 1',
  }),
  minimumGroup: whole(1, 1e9).default(5).register(facts, {
    sentence: 'Fewest values that a statistic of the marts rests on; smaller groups show their count alone.',
    takes: 'a whole number from 1 on',
    env: 'LOTLAKE_MINIMUM_GROUP',
  }),
  relistingDays: whole(0, DAYS)
    .default(30)
    .register(facts, {
      sentence:
        'Days after a sale within which another offer of the vehicle shows that the sale did not hold.',
      takes: `whole days from 0 to ${DAYS}`,
      env: 'LOTLAKE_RELISTING_DAYS',
    }),
  seeds: z.string().optional().register(facts, {
    sentence:
      'Folder with own seeds, such as currency_rules.csv; each stands in the place of the one of the same name in sql/seeds.',
    takes: 'the path of a folder',
  }),
  keepSnapshots: whole(1, 1e9).default(7).register(facts, {
    sentence: 'Published snapshots that vacuum keeps, the current one among them.',
    takes: 'a whole number from 1 on',
  }),
  keepDays: whole(0, DAYS)
    .default(7)
    .register(facts, {
      sentence: 'Days (UTC) of which vacuum keeps the last published snapshot, beside keepSnapshots.',
      takes: `whole days from 0 to ${DAYS}`,
    }),
  keepPasses: z
    .union([whole(1, 1e9), z.record(z.string(), whole(1, 1e9))])
    .default(DEFAULT_PASSES)
    .register(facts, {
      sentence:
        'Complete passes of a stream that vacuum keeps, with all passes since; by stream in a file, or one number.',
      takes: 'a whole number from 1 on, or one by stream such as {"cars": 2}',
    }),
  lease: between(0.001, WEEK).default(LEASE).register(facts, {
    sentence:
      'Seconds without a sign of life after which the lock of a run in another container or on another host is taken over.',
    takes: SECONDS,
  }),
  allowShrink: z.union([z.boolean(), z.stringbool()]).default(false).register(facts, {
    sentence: 'Archive for absence past the shrink guard.',
    takes: 'true or false',
  }),
});

/** Name of a setting. */
export type SettingName = keyof typeof settings.shape;

/** Names of all settings. */
export const settingNames = Object.keys(settings.shape) as readonly SettingName[];

/** Facts of one setting. */
export function factsOf(name: SettingName): Facts {
  const found = facts.get(settings.shape[name]);
  if (found === undefined) throw new TypeError(`setting ${name} has no facts`);
  return found;
}

/** Hosts to which a key may travel in the clear. */
const LOCAL: ReadonlySet<string> = new Set(['127.0.0.1', 'localhost', '[::1]']);

function urlProblem(given: string): string | undefined {
  if (!URL.canParse(given)) return 'it is no URL such as https://host/api';
  const { protocol, hostname, username, password, search, hash } = new URL(given);
  if (protocol !== 'https:' && protocol !== 'http:') return 'it is no URL of http or https';
  if (username !== '' || password !== '') return 'it holds credentials; the key belongs in LOTLAKE_API_KEY';
  if (protocol === 'http:' && !LOCAL.has(hostname))
    return 'it is not https, and the key would travel in the clear; only a service on this machine may do without';
  return search === '' && hash === '' ? undefined : 'it has a query or a fragment; only the path is used';
}

/** What a header takes, and a reader of it gives back unchanged: visible ASCII, with spaces inside. */
function keyProblem(given: string): string | undefined {
  if (given.trim() === '') return 'it is empty';
  const at = [...given].findIndex((character) => !/[\x20-\x7e]/.test(character));
  if (at >= 0) return `character ${at + 1} of it is ${nameOf(given[at] ?? '')}, which no header takes`;
  return given === given.trim() ? undefined : 'it begins or ends with a space';
}

const nameOf = (character: string): string =>
  /[\r\n]/.test(character)
    ? 'a line break'
    : /[\u0000-\u001f\u007f]/.test(character)
      ? 'a control character'
      : 'not ASCII';
