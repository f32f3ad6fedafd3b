import { join } from 'node:path';
import { readFile } from '../../base/config/folder.js';
import { command } from '../command.js';

/** Writes what is known about every table and column as one Markdown file, or as sources of dbt. */
export const docs = command({
  options: {
    to: {
      type: 'string',
      describe: 'path of the file (default tables.md or sources.yml in the output folder)',
    },
    dbt: { type: 'boolean', default: false, describe: 'the sources.yml of dbt-duckdb instead' },
  },
  async run({ to, dbt, print, config }, effects) {
    const { writeMarkdown, writeSources } = await import('../../ask/docs/markdown.js');
    const usual = join(config.output, dbt ? 'sources.yml' : 'tables.md');
    const path = to === undefined ? usual : readFile('--to', to, effects.cwd);
    if (dbt) writeSources(config, path);
    else await writeMarkdown(config, path);
    print(dbt ? { sources: path } : { markdown: path }, () => path);
  },
});
