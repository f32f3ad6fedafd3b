import { existsSync, readFileSync, statSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { parseEnv } from 'node:util';
import { z } from 'zod';
import { ConfigError, messageOf } from './lotlake-error.js';
import { didYouMean } from './nearest.js';
import { allSettings, membersOf } from './settings.js';
import { assertTrusted } from './trusted.js';

/** Name of the file of settings if none is given, and of the file of variables beside it. */
export const FILE = 'lotlake.config.json';
const ENV_FILE = '.env';

/** A value with the place that gave it. */
export interface Given {
  readonly value: unknown;
  /** Flag, variable or path of the file. */
  readonly from: string;
  /** The same, as a message names it. */
  readonly place: string;
  /** Folder from which a relative path leads. */
  readonly folder: string;
}

/** Settings by name, as one place gives them. */
export type GivenSettings = readonly (readonly [name: string, given: Given])[];

/**
 * Reads the file of settings, `.env` beside it, and the environment. If no file is named, it is looked for from the working
 * folder upwards. Variables of `.env` for the AWS SDK, proxies and a catalog are added to `env`, where others read them.
 * Throws ConfigError if a file cannot be read.
 */
export function readGiven(named: string | undefined, env: NodeJS.ProcessEnv, cwd: string) {
  if (named === '') throw new ConfigError('--config names no file');
  const { path, home, envFile } = placesOf(named, env, cwd);
  const warnings: string[] = [];
  const file = named === undefined ? path : `--config ${named}`;
  const fromFile = path === undefined ? [] : readFile(path, file);
  if (fromFile.some(([name]) => name === 'apiKey'))
    throw new ConfigError(
      `${file}: the file holds the key`,
      `set LOTLAKE_API_KEY, in ${join(home, ENV_FILE)} if you like, or name a file in LOTLAKE_API_KEY_FILE`,
    );
  if (path !== undefined && fromFile.some(([name]) => SECRET.test(name)))
    warnings.push(...seenByOthers(path));
  const variables = readEnvFile(envFile, warnings);
  addTo(env, variables);
  const given = [
    ...fromFile,
    ...fromVariables(variables, home, warnings, envFile),
    ...fromVariables(env, cwd, warnings),
  ];
  return {
    /** Folder of the file of settings; the working folder if there is no file. */
    home,
    hasFile: path !== undefined,
    isNamed: named !== undefined,
    /** A later entry of a setting counts. */
    given,
    /** Files with a secret that others can read. */
    warnings,
    /** Messages about variables that look like settings and are not. */
    unknown: [...unknownIn(variables, envFile), ...unknownIn(env)],
  };
}

/**
 * What the environment, `.env` or the file of settings gives as `output`, and the folder of the file: also if other settings
 * cannot be read. Throws ConfigError if a place that could name it cannot be read.
 */
export function givenOutput(named: string | undefined, env: NodeJS.ProcessEnv, cwd: string) {
  const { path, home, envFile } = placesOf(named, env, cwd);
  const outputIn = (given: GivenSettings) => given.find(([name]) => name === 'output')?.[1];
  const given =
    outputIn(settingsIn(env, cwd)) ??
    outputIn(settingsIn(readEnvFile(envFile, []), home, envFile)) ??
    (path === undefined ? undefined : outputIn(readFile(path)));
  return { given, home };
}

/**
 * The file of settings, if there is one, its folder, and `.env` in that folder. Throws ConfigError if they were not named, and
 * others decide what they say.
 */
function placesOf(named: string | undefined, env: NodeJS.ProcessEnv, cwd: string) {
  const path = named === undefined ? foundUpwards(cwd) : resolve(cwd, named);
  const home = path === undefined ? cwd : dirname(path);
  const envFile = join(home, ENV_FILE);
  for (const file of named === undefined ? [path, envFile] : [])
    if (file !== undefined && existsSync(file))
      assertTrusted(file, env, `name the file of settings beside it, such as --config ${join(home, FILE)}`);
  return { path, home, envFile };
}

function foundUpwards(folder: string): string | undefined {
  const path = join(folder, FILE);
  const found = reading(`${path}: the file`, () => statSync(path, { throwIfNoEntry: false }));
  if (found !== undefined) return path;
  return dirname(folder) === folder ? undefined : foundUpwards(dirname(folder));
}

/** Runs a function that reads a file. Throws ConfigError that names the file if it fails. */
function reading<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    const hint = 'give this user the right to read it, or name another file';
    throw new ConfigError(`${file} cannot be read: ${messageOf(error)}`, hint);
  }
}

/** @param name the path as a message names it */
function readFile(path: string, name = path): GivenSettings {
  const text = reading(`${name}: the file`, () => readFileSync(path, 'utf8'));
  const object = z.record(z.string(), z.unknown()).safeParse(parsed(text, name));
  if (!object.success) throw new ConfigError(`${name}: the file holds no object`);
  const folder = dirname(path);
  return givenIn(object.data, (setting) => ({ from: path, place: `${setting} in ${path}`, folder }));
}

/** Parses JSON with comments (JSON5, whose errors name line and column). The parser is loaded only if there is a file. */
function parsed(text: string, name: string): unknown {
  const json5: typeof import('json5') = createRequire(import.meta.url)('json5');
  try {
    return json5.parse(text);
  } catch (error) {
    const problem = messageOf(error)
      .replace('JSON5: ', '')
      .replace(/ at (\d+):(\d+)$/, ' at line $1, column $2');
    throw new ConfigError(`${name}: the file is no JSON: ${problem}`);
  }
}

/** The members of an object of settings, each with its place. */
export function givenIn(values: object, placeOf: (name: string) => Omit<Given, 'value'>): GivenSettings {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) => membersOf(name, value))
    .map(([name, value]) => [name, { value, ...placeOf(name) }]);
}

/** The place of a variable, in the environment or in a file. */
const placeOf = (variable: string, folder: string, file: string | undefined) => ({
  from: file ?? variable,
  place: file === undefined ? variable : `${variable} in ${file}`,
  folder,
});

/** Settings in variables, without the key of a key file. An empty variable counts as not set. */
const settingsIn = (variables: NodeJS.ProcessEnv, folder: string, file?: string): GivenSettings =>
  allSettings.flatMap(({ name, variable }): GivenSettings => {
    const value = variables[variable] ?? '';
    return value === '' ? [] : [[name, { value, ...placeOf(variable, folder, file) }]];
  });

/** Settings in variables, and the key in the file that a variable names. */
function fromVariables(
  variables: NodeJS.ProcessEnv,
  folder: string,
  warnings: string[],
  file?: string,
): GivenSettings {
  const found = settingsIn(variables, folder, file);
  const path = variables.LOTLAKE_API_KEY_FILE ?? '';
  if (path === '') return found;
  const value = readKeyFile(resolve(folder, path), warnings);
  const place = `the key file ${path}`;
  const key = { value, ...placeOf('LOTLAKE_API_KEY_FILE', folder, file), place };
  return [...found, ['apiKey', key]];
}

/** The key in a file; the line break that ends the file is not part of it. */
const readKeyFile = (path: string, warnings: string[]): string =>
  reading(`the key file ${path}`, () => {
    const key = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    warnings.push(...seenByOthers(path));
    return key;
  });

/** Variables and settings that hold a secret. */
const SECRET = /^((LOTLAKE|AWS)_.*(KEY|TOKEN|PASSWORD|NOTIFY_URL)|lineage\.key|notify\.(url|channels))$/;

/** The variables in a file `.env`; none if it does not exist or is a folder. */
const readEnvFile = (path: string, warnings: string[]): NodeJS.ProcessEnv =>
  reading(`${path}: the file`, () => {
    if (statSync(path, { throwIfNoEntry: false })?.isDirectory() !== false) return {};
    const variables = parseEnv(readFileSync(path, 'utf8'));
    if (Object.keys(variables).some((name) => SECRET.test(name))) warnings.push(...seenByOthers(path));
    return variables;
  });

function seenByOthers(path: string): string[] {
  const mode = statSync(path).mode & 0o777;
  return (mode & 0o077) === 0
    ? []
    : [`others can read ${path}, which holds a secret (mode ${mode.toString(8)}); run chmod 600 ${path}`];
}

/** Secrets that are no settings. */
const OWN_SECRETS = [
  'LOTLAKE_CATALOG_TOKEN',
  'LOTLAKE_NTFY_TOKEN',
  'LOTLAKE_TELEGRAM_TOKEN',
  'LOTLAKE_SMTP_PASSWORD',
];

/** Variables that are not settings, and that `.env` may set all the same. */
const OTHERS = new RegExp(`^(AWS_\\w+|(HTTPS?|ALL|NO)_PROXY|${OWN_SECRETS.join('|')})$`, 'i');

/** Variables of lotlake that are not settings. */
const OWN = ['LOTLAKE_API_KEY_FILE', ...OWN_SECRETS];

function unknownIn(variables: NodeJS.ProcessEnv, file?: string): string[] {
  const known = [...OWN, ...allSettings.map(({ variable }) => variable)];
  return Object.keys(variables)
    .filter((name) => name.startsWith('LOTLAKE_') && !known.includes(name))
    .map((name) => {
      const place = file === undefined ? name : `${name} in ${file}`;
      return `${place}: there is no such variable${didYouMean(name, known)}`;
    });
}

/** Sets variables that are not set yet in upper or lower case: proxies use both. */
function addTo(env: NodeJS.ProcessEnv, variables: NodeJS.ProcessEnv): void {
  for (const [name, value] of Object.entries(variables))
    if (OTHERS.test(name) && (env[name.toLowerCase()] ?? env[name.toUpperCase()]) === undefined)
      env[name] = value;
}
