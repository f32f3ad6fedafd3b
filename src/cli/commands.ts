import type { Command } from './command.js';

/** A command of any options; yargs has checked what it is given. */
export type AnyCommand = Command<never>;

/** The sentence of each command, by its name and arguments. */
export const COMMANDS = {
  'run <pipeline>': 'run a pipeline, such as nightly',
  sandbox: 'serve the embedded service on 127.0.0.1',
  init: 'write a file of settings with comments',
  config: 'list the settings in force',
  doctor: 'check machine, settings, lake and service',
  'query [sql]': 'answer a query over the published lake',
  'export <tables..>': 'write tables into a folder to hand over',
  report: 'write the report as one HTML file',
  'lookup <kind> <id> [domain]': 'ask the service for one vehicle',
  'value [id]': 'say what a lot or a car is worth',
  audit: 'compare counts with the service',
  tables: 'list the tables and marts',
  'describe <table>': 'describe a table or mart and its columns',
  docs: 'write pages about every table and column',
  status: 'say how fresh the lake is and what is wrong',
  runs: 'list the runs, whatever came of them',
  rejects: 'list the records that break the contract',
  test: 'run the data tests, show rows that fail',
  'model [mirror]': 'compute the marts beside the lake',
  'diff <before> [after]': 'say what differs between two snapshots',
  verify: 'check every file of a snapshot',
  vacuum: 'remove what is past retention',
  backup: 'copy the lake to another folder',
  'push [to]': 'push the lake to its object storage',
  'pull [to]': 'make the lake from its object storage',
  'completion <shell>': 'print a script for bash, zsh or fish',
} as const;

/** A command is loaded when it is named, so that no other one pays for it. */
export const LOADERS: Readonly<Record<keyof typeof COMMANDS, () => Promise<AnyCommand>>> = {
  'run <pipeline>': async () => (await import('./commands/run.js')).run,
  sandbox: async () => (await import('./commands/sandbox.js')).sandbox,
  init: async () => (await import('./commands/init.js')).init,
  config: async () => (await import('./commands/config.js')).config,
  doctor: async () => (await import('./commands/doctor.js')).doctor,
  'query [sql]': async () => (await import('./commands/query.js')).query,
  'export <tables..>': async () => (await import('./commands/export.js')).exportTables,
  report: async () => (await import('./commands/report.js')).report,
  'lookup <kind> <id> [domain]': async () => (await import('./commands/lookup.js')).lookup,
  'value [id]': async () => (await import('./commands/value.js')).value,
  audit: async () => (await import('./commands/audit.js')).audit,
  tables: async () => (await import('./commands/tables.js')).tables,
  'describe <table>': async () => (await import('./commands/tables.js')).describe,
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
  'completion <shell>': async () => (await import('./commands/completion.js')).completion,
};
