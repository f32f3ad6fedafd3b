import { statSync } from 'node:fs';
import { join, relative, resolve } from 'node:path';
import type { z } from 'zod';
import { quoted, readExistingFolder, readFile, readFolder } from './folder.js';
import { type Given, givenIn, givenOutput, readGiven } from './given.js';
import { ConfigError } from './lotlake-error.js';
import { defaultMemory } from './memory.js';
import { didYouMean } from './nearest.js';
import { isUrl } from './problems.js';
import { allSettings, sentenceOf, settings, withMembers } from './settings.js';
import { assertAllTrusted } from './trusted.js';

/** Settings after validation: complete, typed and read-only; `output`, `seeds`, `models` and `costs` are absolute. */
export type Config = Readonly<z.output<typeof settings> & { memory: string }>;

/** Settings by name, not yet checked. */
export type Settings = Partial<z.input<typeof settings>>;

/** Settings as flags give them, and the file of settings that `--config` names. */
export type ConfigInput = Settings & { readonly configFile?: string | undefined };

/**
 * A setting in force: its name in a file of settings, such as `publish.to`; its value, null if it is not set, and only `set`
 * for a secret; and where it comes from: a flag, a variable, the path of a file, or `default`.
 */
export type InForce = Readonly<ReturnType<typeof inForceOf>[number]>;

/** Reads the configuration as {@link readSettings} does. */
export const readConfig = (...given: Parameters<typeof readSettings>): Config =>
  readSettings(...given).config;

/**
 * Reads the configuration: flags over environment over `.env` over the file of settings over defaults. Relative paths in
 * a file, and the default output, start at the folder of the file; others start at the working folder. It makes no file and
 * sends no request; {@link readGiven} says what is added to `env`. Throws ConfigError that names each wrong setting, its
 * value, and where it came from.
 * @param flags settings of the command line
 * @param context.nameOf how messages name a setting of `flags`; by default as `--per-page`
 * @param sandbox settings of the embedded service: `service` overrides all others, `defaults` are other defaults
 */
export function readSettings(
  flags: ConfigInput = {},
  {
    env = process.env,
    cwd = process.cwd(),
    nameOf = flagOf,
  }: { env?: NodeJS.ProcessEnv; cwd?: string; nameOf?: (name: string) => string } = {},
  { service = {}, defaults = {} }: { readonly service?: Settings; readonly defaults?: Settings } = {},
) {
  const { configFile, ...options } = flags;
  const files = readGiven(configFile, env, cwd);
  const standard = (name: string) => ({
    from: 'default',
    place: `the default of ${name}`,
    folder: files.home,
  });
  const given: ReadonlyMap<string, Given> = new Map([
    ...givenIn(defaults, standard),
    ...files.given,
    ...givenIn(options, (name) => ({ from: nameOf(name), place: nameOf(name), folder: cwd })),
    ...givenIn(service, () => ({ from: '--sandbox', place: '--sandbox', folder: cwd })),
  ]);
  const parsed = settings.safeParse(withMembers([...given].map(([name, { value }]) => [name, value])));
  if (!parsed.success) throw notValid(parsed.error, given);
  const {
    origin,
    output,
    seeds,
    models = folderBeside('models', files, env),
    costs = folderBeside('costs', files, env),
    logFile,
    metrics,
    lineage,
    notify,
    sync,
  } = parsed.data;
  const { baseUrl, apiKey, memory = defaultMemory() } = parsed.data;
  if (baseUrl !== undefined && apiKey !== undefined && holdsKey(baseUrl, apiKey))
    throw new ConfigError(
      `${given.get('baseUrl')?.place ?? 'baseUrl'} holds the key, and the lake keeps the address of its service`,
      'give the address without the key; lotlake sends the key in a header',
    );
  const placeOf = (name: string) => given.get(name) ?? standard(name);
  const pathOf = (name: string, path: string, read: typeof readFolder): string =>
    read(placeOf(name).place, path, placeOf(name).folder);
  const config: Config = {
    ...parsed.data,
    memory,
    origin: origin ?? (baseUrl && originOf(baseUrl)),
    output: pathOf('output', output, readFolder),
    seeds: seeds === undefined ? seeds : pathOf('seeds', seeds, readExistingFolder),
    models: models === undefined ? models : pathOf('models', models, readExistingFolder),
    costs: costs === undefined ? costs : pathOf('costs', costs, readExistingFolder),
    logFile: logFile === undefined ? logFile : resolve(placeOf('logFile').folder, logFile),
    metrics: metrics === undefined ? metrics : pathOf('metrics', metrics, readFile),
    sync: Object.fromEntries(
      Object.entries(sync).map(([name, { passwordFile, ...database }]) => [
        name,
        passwordFile === undefined
          ? database
          : { ...database, passwordFile: resolve(placeOf('sync').folder, passwordFile) },
      ]),
    ),
    notify: {
      ...notify,
      channels: Object.fromEntries(
        Object.entries(notify.channels).map(([name, { secretFile, ...channel }]) => [
          name,
          secretFile === undefined
            ? channel
            : { ...channel, secretFile: resolve(placeOf('notify.channels').folder, secretFile) },
        ]),
      ),
    },
    lineage:
      lineage.to === undefined || isUrl(lineage.to)
        ? lineage
        : { ...lineage, to: pathOf('lineage.to', lineage.to, readFile) },
  };
  return {
    config,
    /** Every setting, without secrets, so that it may be stored. */
    inForce: inForceOf(config, given),
    warnings: files.warnings,
    unknown: files.unknown,
  };
}

/**
 * The defaults of all settings, with the output folder that {@link readSettings} would have found if it had not thrown. Throws
 * ConfigError if that folder cannot be read from the settings.
 */
export function readOutput(
  { output, configFile }: ConfigInput,
  { env, cwd }: { readonly env: NodeJS.ProcessEnv; readonly cwd: string },
  defaults: Settings = {},
): Config {
  const standard = settings.parse(withMembers(Object.entries(defaults)));
  const found = output === undefined ? givenOutput(configFile, env, cwd) : { home: cwd, given: undefined };
  const { value = output ?? standard.output, place = '--output', folder = found.home } = found.given ?? {};
  return { ...standard, memory: defaultMemory(), output: readFolder(place, String(value), folder) };
}

/** Settings that are never shown, and objects in whose place one may have been given. */
const SECRETS: ReadonlySet<string> = new Set([
  ...['apiKey', 'lineage', 'lineage.key'],
  ...['notify', 'notify.url', 'notify.channels'],
]);

/** Every setting of a configuration with the place that gave it. */
function inForceOf(config: Config, given: ReadonlyMap<string, Given>) {
  return allSettings.map(({ name }) => {
    const value = name
      .split('.')
      .reduce<unknown>((inner, member) => Reflect.get(Object(inner), member), config);
    const hidden = SECRETS.has(name) ? value && 'set' : value;
    const shown =
      name === 'spark.submit'
        ? withoutSecrets(value)
        : name === 'notify.channels'
          ? kindsOf(config.notify.channels)
          : hidden;
    return { name, value: shown ?? null, from: given.get(name)?.from ?? 'default' };
  });
}

/** Words of a command, without the value of an option whose name means a secret, such as `fs.s3a.secret.key=…`. */
const withoutSecrets = (words: unknown): unknown =>
  Array.isArray(words)
    ? words.map((word) =>
        String(word).replace(/(secret|pass|token|key|credential|auth)([^=]*=).*/is, '$1$2…'),
      )
    : words;

/** What may be shown of channels: their kinds. */
const kindsOf = (channels: Config['notify']['channels']): Readonly<Record<string, string>> =>
  Object.fromEntries(Object.entries(channels).map(([name, { kind }]) => [name, kind]));

/** The folder of own models or tables of costs if none is named: beside the file of settings. */
function folderBeside(
  name: 'models' | 'costs',
  { hasFile, isNamed, home }: ReturnType<typeof readGiven>,
  env: NodeJS.ProcessEnv,
): string | undefined {
  const folder = join(home, name);
  if (!hasFile || statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return undefined;
  if (!isNamed) assertAllTrusted(folder, env, `name the folder in the setting ${name}`);
  return folder;
}

/** `--per-page` of `perPage`, and `--path-style` of `publish.pathStyle`. */
export const flagOf = (name: string): string =>
  `--${name.replace(/.*\./, '').replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)}`;

/** The error of wrong settings. It lists all of them; its hint describes the first. */
function notValid({ issues }: z.ZodError, given: ReadonlyMap<string, Given>): ConfigError {
  const problems = new Map<string, string>();
  const names = Object.keys(settings.shape);
  const known = [...names, ...allSettings.map(({ name }) => name)].filter((name) => name !== 'apiKey');
  let hint: string | undefined;
  for (const issue of issues) {
    for (const key of issue.code === 'unrecognized_keys' ? issue.keys : []) {
      const name = [...issue.path, key].join('.');
      const { place } = givenAt([...issue.path, key], given);
      problems.set(name, `${place}: there is no such setting${didYouMean(name, known)}`);
    }
    if (issue.code === 'unrecognized_keys') continue;
    const { name, place, inner, value } = givenAt(issue.path, given);
    if (problems.has(`${name}.${inner}`)) continue;
    const about = allSettings.find((setting) => `${setting.name}.`.startsWith(`${name}.`));
    if (about !== undefined) hint ??= `${about.name}: ${sentenceOf(about.name)}`;
    const isSecret = SECRETS.has(name) || (isPlace(name) && holdsSecret(value));
    const what = isSecret ? 'cannot be used' : value === undefined ? 'is missing' : `is ${quoted(value)}`;
    problems.set(`${name}.${inner}`, `${place} ${what}${issue.message}`);
  }
  return new ConfigError([...problems.values()].join('; '), hint ?? `settings: ${names.join(', ')}`);
}

/** The setting at a path that was given: itself, or the list or object around it. */
function givenAt(path: readonly PropertyKey[], given: ReadonlyMap<string, Given>) {
  const names = path.map((_, i) =>
    path
      .slice(0, path.length - i)
      .map(String)
      .join('.'),
  );
  const name = names.find((each) => given.has(each)) ?? names[0] ?? '';
  const { place = name, value } = given.get(name) ?? {};
  // A place in a list is none that a user wrote.
  const inner = path
    .filter((part) => typeof part !== 'number')
    .map(String)
    .join('.')
    .slice(name.length + 1);
  return { name, place: inner === '' ? place : `${inner} of ${place}`, inner, value };
}

/** Whether a setting is a URL or a place, or an object that has one. */
const isPlace = (name: string): boolean => /^(baseUrl|publish|lineage|sync)/.test(name);

/** Whether the value of a place may hold a password or a token, whether or not it is a valid URL. */
const holdsSecret = (value: unknown): boolean => /[@?#]/.test(JSON.stringify(value) ?? '');

/** Letters from which on a key in an address is no part of a word there. */
const KEY_LETTERS = 8;

/** Whether a URL holds a key, as it is or percent-encoded, once or more. */
function holdsKey(url: string, key: string): boolean {
  if (key.length < KEY_LETTERS) return false;
  let text = url;
  for (let times = 0; times < 4 && !text.includes(key); times++)
    text = text.replaceAll(/%([0-9a-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)));
  return text.includes(key);
}

/** A base URL as the lake keeps it: in one spelling, and without a password. */
function originOf(baseUrl: string): string {
  const { protocol, host, pathname } = new URL(baseUrl);
  return `${protocol}//${host}${pathname.replace(/\/+$/, '')}`;
}

/** The flags by which another command finds the same lake; empty if it does so without any. */
export function flagsOf(
  config: Config,
  { configFile }: ConfigInput,
  effects: { env: NodeJS.ProcessEnv; cwd: string },
): string {
  const file = configFile === undefined ? '' : ` --config ${configFile}`;
  const found = readConfig({ configFile }, effects).output;
  return config.output === found ? file : `${file} --output ${relative(effects.cwd, config.output) || '.'}`;
}
