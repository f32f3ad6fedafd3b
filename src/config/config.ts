import { readFileSync, statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { z } from 'zod';
import { quoted, readExistingFolder, readFolder } from './folder.js';
import { ConfigError, messageOf } from './lotlake-error.js';
import { defaultMemory } from './memory.js';
import { didYouMean } from './nearest.js';
import { membersOf, type SettingName, settingNames, settings, variables, withMembers } from './settings.js';

/** Settings after validation: complete, typed and read-only; `output` and `seeds` are absolute. */
export type Config = Readonly<z.output<typeof settings> & { memory: string }>;

/** Settings by name, not yet checked. */
export type Settings = Partial<z.input<typeof settings>>;

/** Settings as flags give them, and the file of settings that `--config` names. */
export type ConfigInput = Settings & { readonly configFile?: string | undefined };

/** The file of settings where none is named; it may be missing. */
const FILE = 'lotlake.config.json';

/** A value that was given, the flag, variable or file that it came from, and that place as a message names it. */
interface Given {
  readonly value: unknown;
  readonly from: string;
  readonly place: string;
}

/** A setting as it holds, and where it comes from: a flag, a variable, the path of a file, or `default`. */
export interface InForce {
  /** Name in a file of settings; a member of an object as `publish.to`. */
  readonly name: string;
  /** Null where nothing is set. Of a secret only `set`. */
  readonly value: unknown;
  readonly from: string;
}

/** Reads the configuration as {@link readSettings} does. */
export const readConfig = (...given: Parameters<typeof readSettings>): Config =>
  readSettings(...given).config;

/**
 * Reads the configuration: flags over environment over file over defaults. Nothing is made and nobody is asked. Throws
 * ConfigError that names each setting that is wrong, what was given, and where it came from.
 * @param flags what the command line gave
 * @param defaults what stands in the place of the defaults
 * @returns the configuration, and the same setting by setting with its places and without secrets, which may be kept
 */
export function readSettings(
  flags: ConfigInput = {},
  { env = process.env, cwd = process.cwd() }: { env?: NodeJS.ProcessEnv; cwd?: string } = {},
  defaults: Settings = {},
): { readonly config: Config; readonly inForce: readonly InForce[] } {
  const { configFile, ...options } = flags;
  const given = new Map<string, Given>([
    ...entries(defaults, (name) => ({ from: 'default', place: `the default of ${name}` })),
    ...fromFile(cwd, configFile),
    ...fromEnvironment(env, cwd),
    ...entries(options, (name) => ({ from: flagOf(name), place: flagOf(name) })),
  ]);
  const parsed = settings.safeParse(withMembers([...given].map(([name, { value }]) => [name, value])));
  if (!parsed.success) throw notValid(parsed.error, given);
  const { memory, output, seeds, baseUrl } = parsed.data;
  const place = (name: SettingName): string => given.get(name)?.place ?? `the default of ${name}`;
  const config = {
    ...(baseUrl === undefined ? {} : { origin: originOf(baseUrl) }),
    ...parsed.data,
    memory: memory ?? defaultMemory(),
    output: readFolder(place('output'), output, cwd),
    ...(seeds === undefined ? {} : { seeds: readExistingFolder(place('seeds'), seeds, cwd) }),
  };
  return { config, inForce: inForceOf(config, given) };
}

/** Every setting of a configuration with the place that gave it. */
function inForceOf(config: Config, given: ReadonlyMap<string, Given>): InForce[] {
  const members = settingNames.flatMap((name) => membersOf(name, config[name] ?? null));
  return members.map(([name, value]) => ({
    name,
    value: name === 'apiKey' ? value && 'set' : name === 'spark.submit' ? withoutSecrets(value) : value,
    from: given.get(name)?.from ?? 'default',
  }));
}

/** Words of a command. Of an option such as `fs.s3a.secret.key=…` whose name speaks of a secret the value is left out. */
const withoutSecrets = (words: unknown): unknown =>
  Array.isArray(words)
    ? words.map((word) => String(word).replace(/(secret|password|token|access[.]?key)([^=]*=).*/is, '$1$2…'))
    : words;

/** `--per-page` of `perPage`, and `--path-style` of `publish.pathStyle`. */
const flagOf = (name: string): string =>
  `--${name.replace(/.*\./, '').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

function entries(values: object, placeOf: (name: string) => Omit<Given, 'value'>): [string, Given][] {
  return Object.entries(values)
    .filter(([, value]) => value !== undefined)
    .flatMap(([name, value]) => membersOf(name, value))
    .map(([name, value]) => [name, { value, ...placeOf(name) }]);
}

/** A variable that is empty counts as one that is not set. */
function fromEnvironment(env: NodeJS.ProcessEnv, cwd: string): [string, Given][] {
  const found = variables.flatMap(({ name, variable }): [string, Given][] => {
    const value = env[variable] ?? '';
    return value === '' ? [] : [[name, { value, from: variable, place: variable }]];
  });
  const path = env.LOTLAKE_API_KEY_FILE ?? '';
  if (path === '') return found;
  const key = readKeyFile(resolve(cwd, path));
  return [...found, ['apiKey', { value: key, from: 'LOTLAKE_API_KEY_FILE', place: `the key file ${path}` }]];
}

/** What is wrong, setting by setting, with what the first of them does. */
function notValid({ issues }: z.ZodError, given: ReadonlyMap<string, Given>): ConfigError {
  const problems = new Map<string, string>();
  const known = settingNames.filter((name) => name !== 'apiKey');
  let hint: string | undefined;
  for (const issue of issues) {
    for (const key of issue.code === 'unrecognized_keys' ? issue.keys : []) {
      const name = [...issue.path, key].join('.');
      const { place, inside } = givenAt([...issue.path, key], given);
      const what = inside === '' ? place : `${place} has ${inside}`;
      problems.set(name, `${what}: there is no such setting${didYouMean(name, known)}`);
    }
    const setting = settingNames.find((each) => each === issue.path[0]);
    if (setting === undefined || issue.code === 'unrecognized_keys') continue;
    const { name, place, value } = givenAt(issue.path, given);
    if (problems.has(name)) continue;
    hint ??= `${setting}: ${settings.shape[setting].description}`;
    const isSecret = name === 'apiKey' || (isPlace(name) && holdsSecret(value));
    const what = isSecret ? `${place} cannot be used` : `${place} is ${quoted(value)}`;
    problems.set(name, what + issue.message);
  }
  return new ConfigError([...problems.values()].join('; '), hint ?? `settings: ${settingNames.join(', ')}`);
}

/** The setting that was given and holds a path, and what of the path lies inside of it: in a list or in an object. */
function givenAt(path: readonly PropertyKey[], given: ReadonlyMap<string, Given>) {
  const names = path.map(String);
  const lengths = names.map((_, i) => names.length - i);
  const most = lengths.find((length) => given.has(names.slice(0, length).join('.'))) ?? 1;
  const name = names.slice(0, most).join('.');
  const { place = name, value } = given.get(name) ?? {};
  return { name, place, value, inside: names.slice(most).join('.') };
}

/** Whether a setting is a URL or a place, or an object that has one. */
const isPlace = (name: string): boolean => name === 'baseUrl' || name.startsWith('publish');

/** Whether what was given for a place may hold a password or a token, readable as a URL or not. */
const holdsSecret = (value: unknown): boolean => /[@?#]/.test(JSON.stringify(value) ?? '');

/** A base URL as the lake keeps it: the same whatever way it is written, and without a password in it. */
function originOf(baseUrl: string): string {
  const { protocol, host, pathname } = new URL(baseUrl);
  return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`;
}

function fromFile(cwd: string, named: string | undefined): [string, Given][] {
  if (named === '') throw new ConfigError('--config names no file');
  const path = resolve(cwd, named ?? FILE);
  const said = named === undefined ? path : `--config ${named}`;
  let text: string;
  try {
    if (named === undefined && statSync(path, { throwIfNoEntry: false }) === undefined) return [];
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`${said}: the file cannot be read: ${messageOf(error)}`);
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch (error) {
    throw new ConfigError(`${said}: the file is no JSON: ${messageOf(error)}`);
  }
  const object = z.record(z.string(), z.unknown()).safeParse(parsed);
  if (!object.success) throw new ConfigError(`${said}: the file holds no object`);
  if ('apiKey' in object.data)
    throw new ConfigError(
      `${said}: the file holds the key`,
      'set LOTLAKE_API_KEY, or name a file in LOTLAKE_API_KEY_FILE',
    );
  return entries(object.data, (name) => ({ from: path, place: `${name} in ${path}` }));
}

/** The key in a file; the line break that ends the file is not part of it. */
function readKeyFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new ConfigError(`the key file ${path} cannot be read: ${messageOf(error)}`);
  }
}

/** The flags by which another command finds the same lake; empty where it does by itself. */
export function flagsOf(
  config: Config,
  { configFile }: ConfigInput,
  effects: { env: NodeJS.ProcessEnv; cwd: string },
): string {
  const file = configFile === undefined ? '' : ` --config ${configFile}`;
  const found = readConfig({ configFile }, effects).output;
  return config.output === found ? file : `${file} --output ${relative(effects.cwd, config.output) || '.'}`;
}
