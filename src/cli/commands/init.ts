import { join } from 'node:path';
import { FILE } from '../../base/config/given.js';
import { codeOf, LotlakeError } from '../../base/config/lotlake-error.js';
import { own, replaceFile, writeNew } from '../../base/config/owned.js';
import { settingsTemplate } from '../../base/config/settings-pages.js';
import { command } from '../command.js';

/** Writes a file of settings with comments into the working folder. */
export const init = command({
  hasNoLake: true,
  options: {
    force: { type: 'boolean', default: false, describe: `replace ${FILE} if it is there` },
  },
  run({ force }, { cwd, out }) {
    const path = join(cwd, FILE);
    try {
      (force ? replaceFile : writeNew)(own(path), settingsTemplate());
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      throw new LotlakeError('QUERY_PLACE', `${path} exists; it stays as it is`, {
        outcome: 'usage',
        cause: error,
        hint: 'lotlake init --force replaces it',
      });
    }
    out(
      [
        path,
        'Fill in baseUrl there, and write the key into a file .env beside it:',
        `  (umask 077; echo 'LOTLAKE_API_KEY=…' >> .env)`,
        'lotlake config shows what is in force.',
        '',
      ].join('\n'),
    );
  },
});
