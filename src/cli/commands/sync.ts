import { snapshotFolder } from '../../ask/query/open-lake.js';
import { gridOf } from '../../ask/query/table.js';
import { ConfigError, LotlakeError } from '../../base/config/lotlake-error.js';
import { count, orNone } from '../../base/config/printable.js';
import { unknownName } from '../../base/config/unknown-name.js';
import { syncDatabase } from '../../beyond/sync/sync.js';
import { verifyDatabase } from '../../beyond/sync/verify-sync.js';
import { command } from '../command.js';
import { syncedText } from '../sync.js';

/** Brings a database to the published snapshot, or compares it. */
export const sync = command({
  options: {
    name: { type: 'string', describe: 'name in the setting sync (default the only one)' },
    verify: {
      type: 'boolean',
      default: false,
      describe: 'change nothing; compare the number of rows and a sum of all rows of each table',
    },
  },
  async run({ name, verify, config, print }, { env, signal }) {
    // Throws before a database is asked.
    snapshotFolder(config);
    const names = Object.keys(config.sync);
    const [only, ...others] = names;
    if (only === undefined)
      throw new ConfigError('the setting sync names no database', 'docs/run/sync.md shows what it takes');
    if (name === undefined && others.length > 0)
      throw new ConfigError('the setting sync names several databases', `name one: ${names.join(', ')}`);
    const chosen = name ?? only;
    const settings = config.sync[chosen];
    if (settings === undefined)
      throw unknownName(
        'CONFIG_INVALID',
        'the setting sync has no database',
        chosen,
        names.map((each) => ({ name: each })),
      );
    if (!verify) {
      const synced = await syncDatabase(chosen, settings, config, { env, signal });
      return print(synced, () => syncedText(synced));
    }
    const tables = await verifyDatabase(settings, config, { env, signal });
    print({ name: chosen, tables: tables.map(({ isSame, ...table }) => ({ ...table, same: isSame })) }, () =>
      gridOf(
        ['table', 'snapshot', '>rows', '>expected', ''],
        tables.map((table) => [
          ...[table.name, table.snapshot, orNone(count)(table.rows), count(table.expected)],
          table.isSame ? 'the same' : 'differs',
        ]),
      ),
    );
    const differing = tables.filter(({ isSame }) => !isSame).map((table) => table.name);
    if (differing.length > 0)
      throw new LotlakeError('SYNC_DIFFERS', `${differing.join(', ')} of ${chosen} differ from the lake`, {
        outcome: 'held',
        hint: `lotlake sync puts right what others changed; if it does not see that, tell it: update ${settings.schema}.lotlake_sync set touched = true`,
      });
  },
});
