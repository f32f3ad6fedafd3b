import { type Config, type ConfigInput, readSettings } from '../base/config/config.js';

type Nested = 'publish' | 'spark';

/**
 * Settings of a lake, with the names of a settings file (docs/run/settings.md lists them). A setting that is left out comes
 * from the environment, from `lotlake.config.json` in the working folder or the file of `configFile`, or is the default.
 */
export type LakeSettings = { readonly [K in Exclude<keyof Config, Nested>]?: Config[K] | undefined } & {
  readonly [K in Nested]?: Partial<Config[K]> | undefined;
} & Pick<ConfigInput, 'configFile'>;

/** The checked configuration of settings. Throws ConfigError (CONFIG_INVALID), which names each setting that is wrong. */
export const settingsOf = (settings: LakeSettings) =>
  readSettings(settings, { env: { ...process.env }, nameOf: (name) => `the setting ${name}` });
