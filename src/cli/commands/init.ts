import { join } from 'node:path';
import { FILE } from '../../base/config/given.js';
import { ConfigError, codeOf } from '../../base/config/lotlake-error.js';
import { own, replaceFile, writeNew } from '../../base/config/owned.js';
import { settingsTemplate } from '../../base/config/settings-pages.js';
import { command } from '../command.js';

/** Writes a file of settings with comments into the working folder. */
export const init = command({
  hasNoLake: true,
  options: {
    all: {
      type: 'boolean',
      default: false,
      describe: 'with every setting, not only those that most lakes need',
    },
    force: { type: 'boolean', default: false, describe: `replace ${FILE} if it is there` },
  },
  run({ all, force }, { cwd, out }) {
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
