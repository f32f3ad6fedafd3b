import { pipelineNames } from '../../pipelines/index.js';
import { LotlakeError } from '../base/config/lotlake-error.js';
import { didYouMean } from '../base/config/nearest.js';

/** A command line that lotlake does not understand. */
export class UsageError extends LotlakeError {
  override readonly name = 'UsageError';
  constructor(message: string, hint: string) {
    super('USAGE_INVALID', message, { outcome: 'usage', hint });
  }
}

/** The names that a command line may use. */
export interface Known {
  /** Commands with their arguments, such as `run <pipeline>`; empty inside a command. */
  readonly commands: readonly string[];
  /** The command that is being read, with its arguments. */
  readonly command: string;
  /** Names of its options. */
  readonly options: readonly string[];
}

/**
 * Turns a failure of yargs into one line that suggests the nearest name.
 * @param message of yargs, in English
 * @param argv the command line
 */
export function usageError(message: string, argv: readonly string[], known: Known): UsageError {
  const isOption = (name: string): boolean => argv.some((given) => nameOf(given) === dashed(name));
  const isAtTop = known.commands.length > 0;
  const help = `lotlake ${isAtTop ? '' : `${firstWord(known.command)} `}--help`;
  const unknown = /^Unknown arguments?: (.*)$/s.exec(message)?.[1]?.split(', ');
  if (unknown !== undefined) {
    const option = unknown.find(isOption);
    const other = unknown.find((name) => !isOption(name));
    if (isAtTop && other !== undefined) return unknownCommand(other, known, help);
    if (isAtTop)
      return new UsageError(`--${option} stands before a command`, 'options come after the command');
    if (option !== undefined) return unknownOption(option, known, help);
    return new UsageError(`${other} is one argument too many`, `${help} tells what the command takes`);
  }
  const choice = /Argument: (\S+), Given: (.*), Choices: (.*)$/m.exec(message);
  if (choice !== null) {
    const [name = '', given = '', listed = ''] = choice.slice(1).map((text) => text.replaceAll('"', ''));
    const near = didYouMean(given, listed.split(', '));
    const what = isOption(name) ? `--${name}` : name;
    return new UsageError(`unknown ${what} ${given}${near}`, `there are: ${listed}`);
  }
  const missing = /^Missing required arguments?: (.*)$/s.exec(message)?.[1]?.split(', ');
  if (missing !== undefined)
    return new UsageError(`--${missing.join(' and --')} is missing`, `${help} lists the options`);
  if (message.startsWith('Not enough non-option'))
    return isAtTop
      ? new UsageError('no command is named', `${help} lists the commands`)
      : new UsageError(`an argument is missing: lotlake ${known.command}`, `${help} tells what it is`);
  const [, one, two] = /^Arguments (\S+) and (\S+) are mutually exclusive$/.exec(message) ?? [];
  if (one !== undefined)
    return new UsageError(`--${one} and --${two} do not go together`, `${help} lists the options`);
  return new UsageError(message.replaceAll(/\s*\n\s*/g, ' '), help);
}

function unknownCommand(name: string, { commands }: Known, help: string): UsageError {
  // Pipelines are easily taken for commands.
  const pipeline = didYouMean(name, pipelineNames).replace('you mean ', 'you mean run ');
  const near = pipeline || didYouMean(name, commands.map(firstWord));
  return new UsageError(`unknown command ${name}${near}`, `${help} lists the commands`);
}

function unknownOption(name: string, { options }: Known, help: string): UsageError {
  const near = didYouMean(dashed(name), options).replace('you mean ', 'you mean --');
  return new UsageError(`unknown option --${dashed(name)}${near}`, `${help} lists the options`);
}

const firstWord = (text: string): string => text.split(' ')[0] ?? '';

/** The name of a given option, without dashes and value; undefined for any other word. */
function nameOf(given: string): string | undefined {
  return given.startsWith('-') ? dashed(given.replace(/^--?(no-)?/, '').split('=')[0] ?? '') : undefined;
}

/** `allow-shrink` of `allowShrink`. */
const dashed = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
