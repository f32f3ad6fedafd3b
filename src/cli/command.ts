import type { InferredOptionType } from 'yargs';
import { type Config, type ConfigInput, readConfig } from '../base/config/config.js';
import type { Effects } from './effects.js';
import type { Options } from './options.js';

/** `maxBytes` of `max-bytes`. */
type Camel<K> = K extends `${infer A}-${infer B}` ? `${A}${Capitalize<Camel<B>>}` : K & string;

/** Values of options, by their names in camel case. */
export type Values<O extends Options> = {
  readonly [K in keyof O as Camel<K>]: InferredOptionType<O[K]>;
};

/** Lines for a person. Those that are false or undefined are left out. */
export type Lines = readonly (string | false | undefined)[];

/** What a user types to call lotlake: npm (`npm start`, `npx`) finds it in a clone, and an installed one needs no npm. */
export const calledAs = (env: NodeJS.ProcessEnv): string =>
  env.npm_command === undefined ? 'lotlake' : 'npx lotlake';

/** The lines as one text. */
export const textOf = (lines: Lines): string => lines.filter((line) => typeof line === 'string').join('\n');

/** What the body of a command gets besides its own options. */
export interface Context {
  readonly json: boolean;
  /** `--output` and `--config`. */
  readonly input: ConfigInput;
  /** The settings, read at their first use. A body uses them before it checks its options. */
  readonly config: Config;
  /** Prints a result: as JSON with `--json`, otherwise as text. */
  readonly print: (result: unknown, text: () => string | Lines) => void;
}

/** A command: its options, and what it does. */
export interface Command<Given = Readonly<Record<string, unknown>>> {
  readonly options?: Options;
  /** Set for a command that has no lake, and so none of {@link lakeOptions}. */
  readonly hasNoLake?: true;
  /** @param given values of the options, which yargs checked */
  run(given: Given, effects: Effects): Promise<void> | void;
}

/** Gives the body of a command its options with their types, its settings, and a way to print. */
export function command<const O extends Options = Record<never, never>>(
  parts: Omit<Command<Values<O> & Context>, 'options'> & { readonly options?: O },
): Command {
  return {
    ...parts,
    run({ output, config: configFile, ...values }, effects) {
      const input = { output, configFile } as ConfigInput;
      let settings: Config | undefined;
      const context = {
        ...values,
        input,
        get config() {
          settings ??= readConfig(input, effects);
          return settings;
        },
        print: (result: unknown, text: () => string | Lines) =>
          effects.out(`${values.json ? JSON.stringify(result) : textOf([text()].flat())}\n`),
      };
      return parts.run(context as Values<O> & Context, effects);
    },
  };
}
