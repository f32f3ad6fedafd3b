import { join } from 'node:path';
import { readFile, readFolder } from '../../base/config/folder.js';
import { command } from '../command.js';

/** Writes the pages about tables and marts, or the part of them that needs no lake as one Markdown file. */
export const docs = command({
  options: {
    to: { type: 'string', describe: 'folder of the pages (default docs in the output folder)' },
    markdown: {
      type: 'string',
      conflicts: 'to',
      describe: 'write what needs no lake as one Markdown file instead',
    },
  },
  async run({ to, markdown, print, config }, effects) {
    if (markdown !== undefined) {
      const { writeMarkdown } = await import('../../ask/docs/markdown.js');
      const path = readFile('--markdown', markdown, effects.cwd);
      await writeMarkdown(path, config.output);
      return print({ markdown: path }, () => path);
    }
    const { writeSite } = await import('../../ask/docs/write-site.js');
    const folder = to === undefined ? join(config.output, 'docs') : readFolder('--to', to, effects.cwd);
    const written = await writeSite(config, folder, effects.signal);
    print(
      written,
      () => `${written.pages} pages about snapshot ${written.snapshot_id}; open ${written.index}`,
    );
  },
});
