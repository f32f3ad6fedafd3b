import { once } from 'node:events';
import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import type { Config } from '../../base/config/config.js';
import { guard, newName, newToken } from './access.js';
import { keep, readKept } from './kept.js';
import { appOf, MOST_BYTES } from './routes.js';
import type { Folders } from './searches-page.js';
import { followCurrent } from './shown.js';
import { endings } from './stream.js';

/** What the server is started with. */
export interface ExploreOptions {
  readonly config: Config;
  /** 0 for any free port. Name and token of any other are those of its last start. */
  readonly port: number;
  readonly folders: Folders;
  /** Ends the opening of the snapshot, which takes some seconds for a large lake. */
  readonly signal?: AbortSignal;
}

/**
 * Serves the published snapshot on 127.0.0.1, and follows `current` as it moves. Nothing of the lake is written. Throws
 * QUERY_NO_SNAPSHOT if nothing is published, QUERY_PLACE, and the error of the system if the port cannot be used.
 */
export async function startExplore({ config, port, folders, signal }: ExploreOptions) {
  const { servers } = readKept(config);
  const { token, name } = servers[port] ?? { token: newToken(), name: newName() };
  const follower = await followCurrent(config, signal);
  const open = endings();
  let host = name;
  const app = appOf(
    follower,
    config,
    folders,
    guard(token, () => host),
    open,
  );
  const server = serve({
    fetch: app.fetch,
    hostname: '127.0.0.1',
    port,
    serverOptions: { maxHeaderSize: MOST_BYTES },
    // Its own Response forgets that an answer was sent piece by piece.
    overrideGlobalObjects: false,
  }) as Server;
  try {
    await once(server, 'listening');
    if (port !== 0) keep(config, { servers: { ...readKept(config).servers, [port]: { token, name } } });
  } catch (error) {
    server.close();
    await follower.close();
    throw error;
  }
  // A server that listens on TCP has an address with a port.
  host = `${name}:${(server.address() as AddressInfo).port}`;
  return {
    url: `http://${host}/?token=${token}`,
    async close(): Promise<void> {
      open.close();
      await new Promise((resolve) => {
        server.close(resolve);
        server.closeAllConnections();
      });
      await follower.close();
    },
  };
}
