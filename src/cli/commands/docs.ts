import { join } from 'node:path';
import { readFile } from '../../base/config/folder.js';
import { command } from '../command.js';

/** Writes what is known about every table and column as one Markdown file. */
export const docs = command({
  options: {
    to: { type: 'string', describe: 'path of the file (default tables.md in the output folder)' },
  },
  async run({ to, print, config }, effects) {
    const { writeMarkdown } = await import('../../ask/docs/markdown.js');
    const path = to === undefined ? join(config.output, 'tables.md') : readFile('--to', to, effects.cwd);
    await writeMarkdown(config, path);
    print({ markdown: path }, () => path);
  },
});
