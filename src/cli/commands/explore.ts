import { once } from 'node:events';
import { join } from 'node:path';
import { readFolder } from '../../base/config/folder.js';
import { readGiven } from '../../base/config/given.js';
import { counted, megabytes } from '../../base/config/printable.js';
import { command } from '../command.js';
import { wholeNumber } from '../option-values.js';

/** Serves pages about the published lake until the user ends it. */
export const explore = command({
  options: {
    port: { type: 'string', describe: 'port on 127.0.0.1 (default any that is free)' },
    export: {
      type: 'string',
      conflicts: 'port',
      describe: 'write report, makes and next auctions into this folder, for a web server or bucket, instead',
    },
  },
  async run({ port, export: to, config, input, print }, effects) {
    if (to !== undefined) {
      const { exportPages } = await import('../../ask/explore/static.js');
      const made = await exportPages(config, readFolder('--export', to, effects.cwd), effects.signal);
      return print(
        made,
        () =>
          `${counted(made.files, 'file')}, ${megabytes(made.bytes)}, about snapshot ${made.snapshot} in ${made.path}`,
      );
    }
    const { startExplore } = await import('../../ask/explore/serve.js');
    const { hasFile, home } = readGiven(input.configFile, effects.env, effects.cwd);
    const folders = {
      models: config.models ?? (hasFile ? join(home, 'models') : undefined),
      queries: hasFile ? join(home, 'queries') : undefined,
    };
    const server = await startExplore({
      config,
      port: wholeNumber('--port', port ?? '0', 0, 65_535),
      folders,
      signal: effects.signal,
    });
    print({ url: server.url }, () => [
      `Open ${server.url}`,
      'The address holds a secret that opens the lake for reading. Ctrl-C ends it.',
    ]);
    if (!effects.signal.aborted) await once(effects.signal, 'abort');
    await server.close();
  },
});
