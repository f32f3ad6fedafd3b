import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';

/** A proxy on 127.0.0.1 that connects every CONNECT to one server, and the targets that were requested. */
export async function startProxy(target: string, status = 200) {
  const connects: string[] = [];
  const proxy = createServer((_, response) => response.writeHead(400).end());
  proxy.on('connect', (request, socket) => {
    connects.push(`${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim());
    if (status !== 200) return void socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    const { hostname, port } = new URL(target);
    const server = connect(Number(port), hostname, () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      socket.pipe(server).pipe(socket);
    });
    for (const end of [socket, server]) end.on('error', () => [socket, server].map((one) => one.destroy()));
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  return { connects, url: `http://127.0.0.1:${Object(proxy.address()).port}`, close: () => proxy.close() };
}
