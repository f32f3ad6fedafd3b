import type { LookupFunction } from 'node:net';
import { Agent, fetch } from 'undici';
import { type ExploreOptions, startExplore } from '../../src/ask/explore/serve.js';
import type { ConfigInput } from '../../src/base/config/config.js';
import { configFor } from '../pipelines/support.js';

/** Finds every name on this machine, as browsers do with names below localhost, and not every system. */
export const here: LookupFunction = (_name, { all }, found) =>
  all === true ? found(null, [{ address: '127.0.0.1', family: 4 }]) : found(null, '127.0.0.1', 4);

const dispatcher = new Agent({ connect: { lookup: here } });

/** Requests an address of an explorer; redirects are not followed. */
export const request = async (url: string, init: RequestInit = {}): Promise<Response> =>
  (await fetch(url, { redirect: 'manual', ...init, dispatcher } as object)) as unknown as Response;

/** An explorer over an output folder, with the cookie of a reader who opened its address. */
export interface Opened {
  readonly origin: string;
  /** The address that the command prints. */
  readonly url: string;
  readonly cookie: string;
  /** Requests a path as the reader. */
  get(path: string, init?: RequestInit): Promise<Response>;
  /** The text of a page that must be there. */
  text(path: string): Promise<string>;
  /** Sends a form of the page itself. */
  send(path: string, fields: Readonly<Record<string, string>>): Promise<Response>;
  close(): Promise<void>;
}

/** Starts an explorer and opens it. */
export async function openExplore(
  output: string,
  folders: Partial<ExploreOptions['folders']> = {},
  settings: ConfigInput = {},
): Promise<Opened> {
  const config = configFor('http://127.0.0.1:9/api', output, settings);
  const server = await startExplore({
    config,
    port: 0,
    folders: { models: undefined, queries: undefined, ...folders },
  });
  const { origin } = new URL(server.url);
  const first = await request(server.url);
  const cookie = first.headers.get('set-cookie')?.split(';')[0] ?? '';
  const get: Opened['get'] = (path, init = {}) =>
    request(`${origin}${path}`, { ...init, headers: { cookie, ...init.headers } });
  return {
    origin,
    url: server.url,
    cookie,
    get,
    text: async (path) => {
      const answer = await get(path);
      if (answer.status !== 200) throw new TypeError(`${path}: ${answer.status}`);
      return answer.text();
    },
    send: (path, fields) =>
      get(path, { method: 'POST', body: new URLSearchParams(fields), headers: { origin } }),
    close: server.close,
  };
}
