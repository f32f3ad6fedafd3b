import { relative } from 'node:path';
import { writeReport } from '../../ask/report/write-report.js';
import { readFile } from '../../base/config/folder.js';
import { command } from '../command.js';

/** Writes the report of the published snapshot and says where it is. */
export const report = command({
  options: { to: { type: 'string', describe: 'file (default report.html in the output folder)' } },
  async run({ to, print, config }, effects) {
    const path = await writeReport(config, to === undefined ? undefined : readFile('--to', to, effects.cwd));
    print({ report: path }, () => relative(effects.cwd, path) || path);
  },
});
