import { once } from 'node:events';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { snapshotFolder } from '../../ask/query/open-lake.js';
import { lakeServer } from '../../beyond/agents/server.js';
import { command } from '../command.js';

/** Answers an agent on standard input and output, until it leaves. */
export const mcp = command({
  async run({ config }, { signal }) {
    // Throws before an agent connects.
    snapshotFolder(config);
    const left = new AbortController();
    const ended = AbortSignal.any([signal, left.signal]);
    const served = serveStdio(() => lakeServer(config, ended));
    try {
      await Promise.race([once(process.stdin, 'end'), once(process.stdin, 'close'), once(signal, 'abort')]);
    } finally {
      left.abort();
      await served.close();
    }
  },
});
