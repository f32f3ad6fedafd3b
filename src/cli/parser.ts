import yargs, { type Argv } from 'yargs';
import { version } from '../base/config/package-root.js';
import type { Command } from './command.js';
import { HELP, LOADERS, type Usage, usages } from './commands.js';
import type { Effects } from './effects.js';
import { lakeOptions } from './options.js';
import { type Known, UsageError, usageError } from './usage-error.js';

/** The hidden option by which the scripts of `lotlake completion` request the next words. */
const COMPLETE = '--get-yargs-completions';

/** Arguments that are lists, and `--columns`, which may be given twice. */
const LISTS: ReadonlySet<string> = new Set(['_', 'tables', 'columns']);

/** The widest help. */
const WIDEST = 110;

/**
 * The command line of lotlake.
 * @param argv the words after `lotlake`
 * @param execute runs a command with its checked values
 */
export async function createParser(
  argv: readonly string[],
  effects: Pick<Effects, 'width' | 'env' | 'cwd'>,
  execute: (command: Command, given: Readonly<Record<string, unknown>>) => Promise<void> | void,
): Promise<Argv> {
  const completed = argv[0] === COMPLETE ? argv.slice(2) : undefined;
  const words = completed ?? argv;
  const cli = yargs([...argv])
    .scriptName('lotlake')
    .usage(
      '$0 <command> (-h: its help, -v: the version)\nVehicle-auction data feed to a columnar analytics lake.',
    )
    .example('$0 run nightly --sandbox', 'fill a lake from the embedded service');
  let known: Known = { commands: usages, command: '', options: [] };
  for (const usage of usages) {
    const load = LOADERS[usage];
    const declare = (command: Command) => (args: Argv) => {
      known = { commands: [], command: usage, options: optionsOf(usage, command) };
      return withOptions(args, usage, command, words);
    };
    // yargs completes only options that are declared synchronously.
    const isCompleted = completed?.[0] === usage.split(' ')[0];
    cli.command(
      usage,
      HELP[usage].summary,
      isCompleted
        ? declare(await forCompletion(load, words, effects))
        : async (args) => declare(await load())(args),
      async (values) => execute(await load(), values),
    );
  }
  cli
    .demandCommand(1)
    .strict()
    .detectLocale(false)
    .version(version)
    .alias({ help: 'h', version: 'v' })
    .wrap(Math.min(WIDEST, effects.width ?? WIDEST))
    .check((args) => {
      for (const [name, value] of Object.entries(args))
        if (Array.isArray(value) && !LISTS.has(name))
          throw new UsageError(`--${name} is given twice`, 'give it once');
      return true;
    })
    .fail((message, error) => {
      if (error !== undefined && error !== null) throw error;
      throw usageError(message, argv, known);
    });
  // The first line of the list of commands says it, which is to fit a screen.
  if (!usages.some((usage) => usage.split(' ')[0] === words[0])) cli.hide('help').hide('version');
  return cli;
}

/** Declares the options of a command, and its help. */
function withOptions(
  args: Argv,
  usage: Usage,
  { options = {}, hasNoLake }: Command,
  words: readonly string[],
): Argv {
  const help = HELP[usage];
  const isAsked = words.includes('--help') || words.includes('-h');
  const [first, argument = ''] = words;
  const topic = help.topics?.[argument];
  const { about, examples } = topic ?? help;
  if (isAsked && about !== undefined)
    args.usage(`$0 ${topic === undefined ? usage : `${first} ${argument}`}\n\n${about}`);
  for (const [name, option] of Object.entries(options)) {
    const hidden = isAsked && help.only?.[name]?.includes(argument) === false;
    if (isArgument(usage, name)) args.positional(name, option);
    else args.option(name, { group: 'Options:', ...option, hidden });
  }
  if (hasNoLake !== true) args.options(lakeOptions);
  for (const [given, result] of examples) args.example(`$0 ${given}`, result ?? '');
  return args;
}

/** A command for completion. If it takes tables, the published ones are the choices. */
async function forCompletion(
  load: () => Promise<Command>,
  words: readonly string[],
  effects: Pick<Effects, 'env' | 'cwd'>,
): Promise<Command> {
  const { publishedTables } = await import('./commands/completion.js');
  const command = await load();
  const named = Object.entries(command.options ?? {}).filter(([name]) => /^tables?$/.test(name));
  const choices = named.length === 0 ? [] : publishedTables(words, effects);
  const withChoices = named.map(([name, option]) => [name, { ...option, choices }]);
  return { ...command, options: { ...command.options, ...Object.fromEntries(withChoices) } };
}

const isArgument = (usage: Usage, name: string): boolean => new RegExp(`[<[]${name}\\W`).test(usage);

/** Names of the options of a command. */
function optionsOf(usage: Usage, { options = {}, hasNoLake }: Command): readonly string[] {
  const own = Object.keys(options).filter((name) => !isArgument(usage, name));
  return ['help', 'version', ...own, ...(hasNoLake ? [] : Object.keys(lakeOptions))];
}
