import { join } from 'node:path';
import { type ConfigInput, readConfig } from '../../config/config.js';
import { readFile, readFolder } from '../../config/folder.js';
import type { Effects } from '../effects.js';

/** Writes the pages about tables and marts, or the part of them that needs no lake as one Markdown file. */
export async function docs(
  options: {
    /** Folder of the site; `docs` in the output folder by default. */
    readonly to: string | undefined;
    /** File that the Markdown goes to, instead of a site. */
    readonly markdown: string | undefined;
    readonly json: boolean;
    readonly config: ConfigInput;
  },
  effects: Effects,
): Promise<void> {
  if (options.markdown !== undefined) {
    const { writeMarkdown } = await import('../../docs/markdown.js');
    const path = readFile('--markdown', options.markdown, effects.cwd);
    await writeMarkdown(path, readConfig(options.config, effects).output);
    effects.out(options.json ? `${JSON.stringify({ markdown: path })}\n` : `${path}\n`);
    return;
  }
  const config = readConfig(options.config, effects);
  const { writeSite } = await import('../../docs/write-site.js');
  const folder =
    options.to === undefined ? join(config.output, 'docs') : readFolder('--to', options.to, effects.cwd);
  const written = await writeSite(config, folder, effects.signal);
  effects.out(
    options.json
      ? `${JSON.stringify(written)}\n`
      : `${written.pages} pages about snapshot ${written.snapshot_id}; open ${written.index}\n`,
  );
}
