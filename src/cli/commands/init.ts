import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { FILE } from '../../base/config/given.js';
import { ConfigError, codeOf } from '../../base/config/lotlake-error.js';
import { makeFolder, own, replaceFile, writeNew } from '../../base/config/owned.js';
import { packageFile } from '../../base/config/package-root.js';
import { settingsTemplate } from '../../base/config/settings-pages.js';
import { costTables } from '../../core/model/costs/columns.js';
import { command } from '../command.js';

/** Writes a file of settings with comments, or examples of tables of costs, into the working folder. */
export const init = command({
  hasNoLake: true,
  options: {
    all: {
      type: 'boolean',
      default: false,
      describe: 'with every setting, not only those that most lakes need',
    },
    costs: {
      type: 'boolean',
      default: false,
      describe: 'write examples of tables of costs into the folder costs instead',
    },
    force: { type: 'boolean', default: false, describe: `replace ${FILE} if it is there` },
  },
  run({ all, costs, force }, { cwd, out }) {
    if (costs) return writeCosts(cwd, force, out);
    const path = join(cwd, FILE);
    try {
      (force ? replaceFile : writeNew)(own(path), settingsTemplate(all));
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      throw new ConfigError(`${path} exists; it stays as it is`, 'lotlake init --force replaces it');
    }
    out(
      [
        path,
        'Fill in baseUrl there, and write the key into a file .env beside it:',
        `  (umask 077; echo 'LOTLAKE_API_KEY=…' >> .env)`,
        'lotlake doctor then says what is missing or wrong; lotlake config shows all settings.',
        '',
      ].join('\n'),
    );
  },
});

/** Writes the examples of tables of costs into the folder `costs`. Throws ConfigError if one of them is there. */
function writeCosts(cwd: string, force: boolean, out: (text: string) => void): void {
  const folder = join(cwd, 'costs');
  const files = costTables.map((table) => [join(folder, `${table}.csv`), table] as const);
  const there = files.find(([path]) => existsSync(path));
  if (!force && there !== undefined)
    throw new ConfigError(
      `${there[0]} exists; all tables stay as they are`,
      'lotlake init --costs --force replaces them',
    );
  makeFolder(own(folder));
  for (const [path, table] of files) replaceFile(own(path), packageFile(`site/costs/${table}.csv`));
  out(
    [
      folder,
      `${files.length} tables of costs. All figures are made up: replace them by those of your contracts (docs/ask/costs.md).`,
      'Every run then computes what each lot on offer costs; lotlake value LOT --to DESTINATION shows it part by part.',
      '',
    ].join('\n'),
  );
}
