import { existsSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { z } from 'zod';
import { enumerations } from '../service/contract/enumerations.js';
import { ConfigError } from './config-error.js';
import { amountOf, bytesOfAmount, defaultMemory, MEMORY } from './memory.js';

/** Complete passes of a stream that are kept where the configuration names none. */
export const DEFAULT_PASSES = 3;

/** Seconds without a renewal after which the lock of a holder elsewhere may be taken over, where nothing else is set. */
export const LEASE = 120;

const positive = z.coerce.number().positive();
const count = z.coerce.number().int().positive();

/** Every setting with its sentence and its default. Sources: flags over environment over file over defaults. */
const settings = z.object({
  baseUrl: z
    .url({ protocol: /^https?$/ })
    .optional()
    .describe('Base URL of the service with its path prefix.'),
  origin: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Name of the service, which the lake keeps: a run against another one is refused. By default the base URL; set it to the old URL where the same service has moved.',
    ),
  apiKey: z.string().min(1).optional().describe('Key sent as x-api-key; environment or key file only.'),
  output: z
    .string()
    .min(1)
    .default('output')
    .describe('Folder that holds landing, lake and reports; by default output/sandbox for the sandbox.'),
  rate: positive.optional().describe('Requests a second for the whole process; 1 against a real service.'),
  concurrency: count.max(64).default(4).describe('Requests in flight at once.'),
  perPage: count.max(5000).default(1000).describe('Records asked for a page; each endpoint caps it.'),
  paging: z
    .enum(['pages', 'scroll'])
    .default('pages')
    .describe('How /cars is walked: by page, or along the scroll form of the feed.'),
  sources: z
    .union([z.string().transform((ids) => ids.split(',').map(Number)), z.array(z.number())])
    .refine(
      (ids) => ids.length > 0 && ids.every((id) => id in enumerations.domain),
      'sources are 1, 3 and 12',
    )
    .optional()
    .describe('Sources to ask for one by one, such as 1,3; all that the key has, together, by default.'),
  memory: z
    .string()
    .regex(/^\d+(\.\d+)?\s*(KB|MB|GB|KiB|MiB|GiB)$/i, 'an amount such as 800MB')
    .refine(
      (amount) => bytesOfAmount(amount) >= MEMORY.least,
      `less than the ${amountOf(MEMORY.least)} that a night of the real service takes`,
    )
    .optional()
    .describe(
      'Memory limit of DuckDB, at least 700MB; the process takes up to 900 MB more. By default a quarter of what the machine or its container has, from 700MB to 4GB.',
    ),
  threads: count.max(256).optional().describe('Threads of DuckDB; all cores by default.'),
  log: z
    .enum(['silent', 'warn', 'info', 'debug'])
    .default('info')
    .describe('What is said on stderr: nothing, warnings, steps and progress, or stack traces too.'),
  timeout: positive.default(120).describe('Seconds without a byte after which a request is given up.'),
  retryBudget: positive
    .default(900)
    .describe('Seconds for which one request is tried again before the run ends.'),
  closingBudget: count.default(500).describe('Requests that one closing run may make.'),
  referenceDays: z.coerce
    .number()
    .nonnegative()
    .default(7)
    .describe('Age in days at which nightly reads the catalog and the reference lists again.'),
  shrinkGuard: z.coerce
    .number()
    .gt(0)
    .max(1)
    .default(0.2)
    .describe("Share of a source's active vehicles that one run may archive for absence."),
  rejectAlarm: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(0.01)
    .describe(
      'Share of the records of a stream that are rejected, or loaded without a value that was rejected, above which data_health raises an alarm.',
    ),
  minimumGroup: count
    .default(5)
    .describe('Fewest values that a statistic of the marts rests on; smaller groups show their count alone.'),
  relistingDays: z.coerce
    .number()
    .int()
    .nonnegative()
    .default(30)
    .describe(
      'Days after a sale within which another offer of the vehicle shows that the sale did not hold.',
    ),
  seeds: z
    .string()
    .min(1)
    .optional()
    .describe(
      'Folder with own seeds, such as currency_rules.csv; each stands in the place of the one of the same name in sql/seeds.',
    ),
  keepSnapshots: count
    .default(7)
    .describe('Published snapshots that vacuum keeps, the current one among them.'),
  keepDays: z.coerce
    .number()
    .int()
    .nonnegative()
    .default(7)
    .describe('Days (UTC) of which vacuum keeps the last published snapshot, beside keepSnapshots.'),
  keepPasses: z
    .union([count, z.record(z.string(), count)])
    .default(DEFAULT_PASSES)
    .describe(
      'Complete passes of a stream that vacuum keeps, with all passes since; by stream in a file, or one number.',
    ),
  lease: positive
    .default(LEASE)
    .describe(
      'Seconds without a sign of life after which the lock of a run in another container or on another host is taken over.',
    ),
  allowShrink: z
    .union([z.boolean(), z.stringbool()])
    .default(false)
    .describe('Archive for absence past the shrink guard.'),
});

/** Settings after validation: complete, typed and read-only; `output` and `seeds` are absolute. */
export type Config = Readonly<z.output<typeof settings> & { memory: string }>;

/** Settings as flags or a file give them. */
export type ConfigInput = Partial<z.input<typeof settings>>;

const ENVIRONMENT: Readonly<Record<string, keyof ConfigInput>> = {
  LOTLAKE_BASE_URL: 'baseUrl',
  LOTLAKE_ORIGIN: 'origin',
  LOTLAKE_API_KEY: 'apiKey',
  LOTLAKE_OUTPUT: 'output',
  LOTLAKE_RATE: 'rate',
  LOTLAKE_CONCURRENCY: 'concurrency',
  LOTLAKE_PER_PAGE: 'perPage',
  LOTLAKE_PAGING: 'paging',
  LOTLAKE_SOURCES: 'sources',
  LOTLAKE_MEMORY: 'memory',
  LOTLAKE_THREADS: 'threads',
  LOTLAKE_LOG: 'log',
  LOTLAKE_MINIMUM_GROUP: 'minimumGroup',
  LOTLAKE_RELISTING_DAYS: 'relistingDays',
};

/**
 * Reads the configuration. Throws ConfigError that names the setting and where it came from.
 * @param flags what the command line gave
 * @param effects environment and working folder, replaceable in tests
 * @param defaults what stands in the place of the defaults
 */
export function readConfig(
  flags: ConfigInput = {},
  effects: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
  defaults: ConfigInput = {},
): Config {
  const env = effects.env ?? process.env;
  const cwd = effects.cwd ?? process.cwd();
  const merged: Record<string, unknown> = { ...defaults, ...readFile(resolve(cwd, 'lotlake.config.json')) };
  for (const [name, key] of Object.entries(ENVIRONMENT)) {
    const value = env[name];
    if (value !== undefined && value !== '') merged[key] = value;
  }
  if (env.LOTLAKE_API_KEY_FILE) merged.apiKey = readKeyFile(resolve(cwd, env.LOTLAKE_API_KEY_FILE));
  for (const [key, value] of Object.entries(flags)) if (value !== undefined) merged[key] = value;
  const parsed = z.strictObject(settings.shape).safeParse(merged);
  if (!parsed.success) {
    const issues = parsed.error.issues.map((issue) => `${issue.path.join('.') || 'file'}: ${issue.message}`);
    throw new ConfigError(`the configuration is not valid: ${issues.join('; ')}`, settingsHint());
  }
  const { memory, output, seeds, baseUrl } = parsed.data;
  return {
    ...(baseUrl === undefined ? {} : { origin: originOf(baseUrl) }),
    ...parsed.data,
    memory: memory ?? defaultMemory(),
    output: readFolder('output', resolve(cwd, output)),
    ...(seeds === undefined ? {} : { seeds: readFolder('seeds', resolve(cwd, seeds)) }),
  };
}

/** A base URL as the lake keeps it: the same whatever way it is written, and without a password in it. */
function originOf(baseUrl: string): string {
  const { protocol, host, pathname } = new URL(baseUrl);
  return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`;
}

/** The folder of a setting or an option. Throws ConfigError for characters that DuckDB reads as a pattern of file names. */
export function readFolder(setting: string, folder: string): string {
  if (/[*?[\]{}]/.test(folder))
    throw new ConfigError(
      `${setting}: ${folder} has one of the characters * ? [ ] { }`,
      'use a folder without them',
    );
  return folder;
}

function readFile(path: string): Record<string, unknown> {
  if (!existsSync(path)) return {};
  let parsed: unknown;
  try {
    parsed = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new ConfigError(`${path} is no JSON: ${String(error)}`);
  }
  const object = z.record(z.string(), z.unknown()).safeParse(parsed);
  if (!object.success) throw new ConfigError(`${path} holds no object`);
  if ('apiKey' in object.data)
    throw new ConfigError(
      `${path} holds the key`,
      'set LOTLAKE_API_KEY, or name a file in LOTLAKE_API_KEY_FILE',
    );
  return object.data;
}

function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw new ConfigError(`the key file ${path} cannot be read`, String(error));
  }
}

function settingsHint(): string {
  return `settings: ${Object.keys(settings.shape).join(', ')}`;
}
