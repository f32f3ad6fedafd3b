import { type ConfigInput, readConfig } from '../../config/config.js';
import { interruptOn } from '../../lake/session.js';
import type { Choice } from '../../lake/snapshots.js';
import type { Format } from '../../share/formats.js';
import { openLake } from '../../share/open-lake.js';
import { render } from '../../share/query.js';
import type { Effects } from '../effects.js';

/** Answers a query over the lake on stdout. */
export async function query(
  options: {
    readonly sql: string;
    readonly format: Format;
    /** The snapshot to ask; the published one by default. */
    readonly choice: Choice | undefined;
    readonly config: ConfigInput;
  },
  effects: Effects,
): Promise<void> {
  const lake = await openLake(readConfig(options.config, effects), options.sql, options.choice);
  const endInterrupts = interruptOn(effects.signal, lake.session);
  try {
    effects.data(await render(lake.session.connection, options.sql, options.format, lake.temp));
  } finally {
    endInterrupts();
    lake.close();
  }
}
