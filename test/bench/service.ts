import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';

/** A service that answers from memory. */
export interface BenchService {
  readonly url: string;
  close(): void;
}

/** Serves gzipped pages of `/cars`, other pages to a window (`minutes`), and lists without a record for the rest. */
export async function serve(pages: readonly string[], window: readonly string[]): Promise<BenchService> {
  const bodies = pages.map((file) => readFileSync(file));
  const windowBodies = window.map((file) => readFileSync(file));
  const empty = JSON.stringify({
    data: [],
    links: { next: null },
    meta: { current_page: 1, total: 0, last_page: 1 },
  });
  const server = createServer((request, response) => {
    const url = new URL(request.url ?? '/', 'http://127.0.0.1');
    const list = url.searchParams.has('minutes') ? windowBodies : bodies;
    const body = url.pathname === '/api/cars' ? list[Number(url.searchParams.get('page')) - 1] : undefined;
    const headers = { 'content-type': 'application/json' };
    if (body === undefined) response.writeHead(200, headers).end(empty);
    else response.writeHead(200, { ...headers, 'content-encoding': 'gzip' }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return { url: `http://127.0.0.1:${port}/api`, close: () => server.close() };
}
