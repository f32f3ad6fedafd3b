import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { dump } from 'js-yaml';
import { z } from 'zod';
import { type Named, readCases } from '../cases.js';

/** A kind of file that a case cannot write as text. */
const MADE = ['deep', 'bomb', 'latin-1', 'nul', 'mark', 'huge', 'folder', 'pipe', 'link'] as const;

/** Models of the user, and what becomes of them at night and in the form of explore. */
const schema = z.strictObject({
  what: z.string().describe('What is wrong, in a sentence.'),
  as: z.string().optional().describe('Name of the model; by default that of the file of the case.'),
  sql: z.string().optional().describe('Its SELECT. Its .yml is made from columns and key.'),
  columns: z.array(z.string()).default(['lot_id']),
  key: z.array(z.string()).default(['lot_id']),
  files: z.record(z.string(), z.string()).default({}).describe('Files of the folder, by path, instead.'),
  made: z.enum(MADE).optional().describe('Files that a case cannot write as text, see cases.ts.'),
  left_out: z
    .record(z.string(), z.string())
    .default({})
    .describe('Left out by name: patterns of the reason.'),
  works: z.array(z.string()).default([]).describe('Names of models that are published and can be read.'),
  form: z
    .strictObject({
      name: z.string().optional().describe('Name that is typed; by default one of its own.'),
      sql: z.string().optional().describe('Query that is typed; by default that of the case.'),
      says: z.string().optional().describe('Pattern of the refusal; without it the query is saved.'),
    })
    .optional()
    .describe('What happens if the query is to be watched in explore.'),
});

/** One case, with the name of its file. */
export type ModelCase = Named<z.output<typeof schema>>;

/** All cases. */
export const models: readonly ModelCase[] = readCases('models', schema);

/** The name of the model of a case. */
export const nameOf = ({ as, name }: ModelCase): string => as ?? basename(name).replaceAll('-', '_');

const ymlOf = (columns: readonly string[], key: readonly string[]): string =>
  dump({
    description: 'A model.',
    grain: 'one row a lot',
    key,
    columns: Object.fromEntries(columns.map((column) => [column, { description: 'A column.' }])),
  });

const SELECT = 'select lot_id from lots';

/** Writes the files of a case into the folder of models. */
export function writeCase(folder: string, each: ModelCase): void {
  const { sql, columns, key, files, made } = each;
  const name = nameOf(each);
  const write = (path: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  };
  for (const [path, text] of Object.entries(files)) write(path, text);
  if (sql === undefined && made === undefined) return;
  write(`${name}.yml`, ymlOf(columns, key));
  if (sql !== undefined) write(`${name}.sql`, sql);
  const path = join(folder, `${name}.sql`);
  switch (made) {
    case 'deep':
      write(`${name}.sql`, `select ${'('.repeat(5000)}1${')'.repeat(5000)} as lot_id`);
      break;
    case 'bomb': {
      const lists = Array.from(
        { length: 9 },
        (_, i) => `  - &l${i + 1} [${Array(10).fill(`*l${i}`).join(', ')}]`,
      );
      write(`${name}.sql`, SELECT);
      write(`${name}.yml`, `lists:\n  - &l0 [x]\n${lists.join('\n')}\n${ymlOf(columns, key)}`);
      break;
    }
    case 'latin-1':
      write(`${name}.sql`, Buffer.from(`${SELECT} -- größe`, 'latin1'));
      break;
    case 'nul':
      write(`${name}.sql`, `${SELECT}\0 where false`);
      break;
    case 'mark':
      write(`${name}.sql`, `\uFEFF${SELECT}`);
      write(`${name}.yml`, `\uFEFF${ymlOf(columns, key)}`);
      break;
    case 'huge':
      write(`${name}.sql`, `${SELECT}\n${'-- a comment\n'.repeat(160_000)}`);
      break;
    case 'folder':
      mkdirSync(path);
      break;
    case 'pipe':
      execFileSync('mkfifo', [path]);
      break;
    case 'link':
      symlinkSync(join(folder, 'nowhere'), path);
      break;
    case undefined:
      break;
  }
}
