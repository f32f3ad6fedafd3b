import { relative } from 'node:path';
import { type ConfigInput, readConfig } from '../../config/config.js';
import { readFile } from '../../config/folder.js';
import { writeReport } from '../../report/write-report.js';
import type { Effects } from '../effects.js';

/** Writes the report of the published snapshot and says where it is. */
export async function report(
  options: { readonly to: string | undefined; readonly json: boolean; readonly config: ConfigInput },
  effects: Effects,
): Promise<void> {
  const config = readConfig(options.config, effects);
  const to = options.to === undefined ? undefined : readFile('--to', options.to, effects.cwd);
  const path = await writeReport(config, to);
  effects.out(
    options.json ? `${JSON.stringify({ report: path })}\n` : `${relative(effects.cwd, path) || path}\n`,
  );
}
