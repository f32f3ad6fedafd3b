import { readFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { BenchData } from './data.js';

/** A service that answers with pages on disk. */
export interface BenchService {
  readonly url: string;
  close(): void;
}

const EMPTY = JSON.stringify({
  data: [],
  links: { next: null },
  meta: { current_page: 1, total: 0, last_page: 1 },
});

/**
 * Serves the pages of a world as `/cars`, original or changed, the pages of a window to requests with `minutes`, the
 * archive feed and the duplicates. A window of the archive and all other lists are empty.
 * @param date time that the service tells; by default that of the machine
 */
export async function serve(
  data: BenchData,
  night: 'gzipped' | 'changed' | 'near' = 'gzipped',
  date?: Date,
): Promise<BenchService> {
  const server = createServer(async (request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const isWindow = url.searchParams.has('minutes');
    const lists: Readonly<Record<string, readonly string[]>> = {
      '/api/cars': isWindow ? data.window : data[night],
      '/api/archived-lots': isWindow ? [] : data.archived,
      '/api/korea-duplicates': data.duplicates,
    };
    const file = lists[url.pathname]?.[Number(url.searchParams.get('page')) - 1];
    const headers = {
      'content-type': 'application/json',
      ...(date === undefined ? {} : { date: date.toUTCString() }),
    };
    if (file === undefined) response.writeHead(200, headers).end(EMPTY);
    else response.writeHead(200, { ...headers, 'content-encoding': 'gzip' }).end(await readFile(file));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/api`, close: () => server.close() };
}
