import { relative } from 'node:path';
import { readConfig } from '../../config/config.js';
import { readFile } from '../../config/folder.js';
import { writeReport } from '../../report/write-report.js';
import { command, print } from '../command.js';

/** Writes the report of the published snapshot and says where it is. */
export const report = command({
  options: { to: { type: 'string', describe: 'file (default report.html in the output folder)' } },
  async run({ to, json, config: input }, effects) {
    const config = readConfig(input, effects);
    const path = await writeReport(config, to === undefined ? undefined : readFile('--to', to, effects.cwd));
    print(effects, json, { report: path }, () => relative(effects.cwd, path) || path);
  },
});
