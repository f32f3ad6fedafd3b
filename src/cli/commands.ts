import type { Command } from './command.js';
import help from './help.json' with { type: 'json' };

/** The help of a command. */
interface Help {
  /** Its sentence in the list of commands. */
  readonly summary: string;
  /** Its sentence in its own help, if the summary says too little. */
  readonly about?: string;
  /** The words after `lotlake`, and what they do. */
  readonly examples: readonly (readonly string[])[];
  /** Options that apply only to some first arguments, such as pipelines. */
  readonly only?: Readonly<Record<string, readonly string[]>>;
  /** The help of some first arguments instead. */
  readonly topics?: Readonly<Record<string, Required<Pick<Help, 'about' | 'examples'>>>>;
}

/** The help of each command, by its name and arguments. */
export const HELP: Readonly<Record<Usage, Help>> = help;

/** A command with its arguments, such as `run <pipeline>`. */
export type Usage = keyof typeof help;

export const usages = Object.keys(help) as Usage[];

/** Loads a command when it is named, so that no other command pays for it. */
export const LOADERS: Readonly<Record<Usage, () => Promise<Command>>> = {
  'run <pipeline>': async () => (await import('./commands/run.js')).run,
  sandbox: async () => (await import('./commands/sandbox.js')).sandbox,
  init: async () => (await import('./commands/init.js')).init,
  config: async () => (await import('./commands/config.js')).config,
  doctor: async () => (await import('./commands/doctor.js')).doctor,
  'query [sql]': async () => (await import('./commands/query.js')).query,
  'export <tables..>': async () => (await import('./commands/export.js')).exportTables,
  'changes [tables..]': async () => (await import('./commands/changes.js')).changes,
  report: async () => (await import('./commands/report.js')).report,
  'lookup <kind> <id> [domain]': async () => (await import('./commands/lookup.js')).lookup,
  'value [id]': async () => (await import('./commands/value.js')).value,
  tables: async () => (await import('./commands/tables.js')).tables,
  'describe <table>': async () => (await import('./commands/tables.js')).describe,
  explore: async () => (await import('./commands/explore.js')).explore,
  'watch [name]': async () => (await import('./commands/watch.js')).watch,
  docs: async () => (await import('./commands/docs.js')).docs,
  status: async () => (await import('./commands/status.js')).status,
  runs: async () => (await import('./commands/runs.js')).runs,
  rejects: async () => (await import('./commands/rejects.js')).rejects,
  test: async () => (await import('./commands/test.js')).test,
  'model [mirror]': async () => (await import('./commands/model.js')).model,
  'diff <before> [after]': async () => (await import('./commands/diff.js')).diff,
  verify: async () => (await import('./commands/verify.js')).verify,
  vacuum: async () => (await import('./commands/vacuum.js')).vacuum,
  backup: async () => (await import('./commands/backup.js')).backup,
  'push [to]': async () => (await import('./commands/push.js')).push,
  'pull [to]': async () => (await import('./commands/pull.js')).pull,
  'sync [name]': async () => (await import('./commands/sync.js')).sync,
  mcp: async () => (await import('./commands/mcp.js')).mcp,
  'completion <shell>': async () => (await import('./commands/completion.js')).completion,
};
