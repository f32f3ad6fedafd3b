import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import PostalMime, { type Email } from 'postal-mime';
import { SMTPServer } from 'smtp-server';

/** A request that a receiver got. */
interface Got {
  readonly path: string;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Readonly<Record<string, unknown>>;
}

/** A mail that the mail server took, with its envelope and who sent it. */
interface Mail extends Email {
  readonly recipients: readonly string[];
  readonly user: string | undefined;
}

/** A server of HTTP and one of SMTP, on 127.0.0.1, that keep what they get. */
export interface Receivers {
  readonly url: string;
  /** `host:port` of the mail server. */
  readonly mailHost: string;
  /** What came since the last call. */
  taken(): { readonly posts: readonly Got[]; readonly mails: readonly Mail[] };
  /** Makes every server refuse, or take messages again. */
  setDown(isDown: boolean): void;
  close(): Promise<void>;
}

/**
 * Starts the servers.
 * @param password of the user of the mail server; without one it asks for none
 * @param given milliseconds until it answers to a mail, its address, and whether it offers TLS, with a certificate that nobody knows
 */
export async function startReceivers(
  password?: string,
  {
    delay = 0,
    host = '127.0.0.1',
    hasTls = false,
  }: { readonly delay?: number; readonly host?: string; readonly hasTls?: boolean } = {},
): Promise<Receivers> {
  let [posts, mails]: [Got[], Mail[]] = [[], []];
  let isDown = false;
  const web = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    if (isDown) return void response.writeHead(503).end('{"error":"down for repairs"}');
    posts.push({
      path: request.url ?? '',
      headers: request.headers,
      body: JSON.parse(Buffer.concat(chunks).toString()),
    });
    response.end('{}');
  });
  await new Promise<void>((resolve) => web.listen(0, host, resolve));
  const mail = new SMTPServer({
    authOptional: password === undefined,
    allowInsecureAuth: true,
    disabledCommands: hasTls ? [] : ['STARTTLS'],
    onAuth: ({ username, password: given }, _, done) =>
      given === password ? done(null, { user: username }) : done(new Error('wrong password')),
    onRcptTo: ({ address }, _, done) =>
      done(address.startsWith('nobody@') ? new Error('no such mailbox') : null),
    onData(stream, { envelope, user }, done) {
      const chunks: Buffer[] = [];
      stream.on('data', (chunk: Buffer) => chunks.push(chunk));
      stream.on('end', () => {
        if (isDown) return done(Object.assign(new Error('down for repairs'), { responseCode: 451 }));
        void PostalMime.parse(Buffer.concat(chunks)).then((parsed) => {
          mails.push({ ...parsed, recipients: envelope.rcptTo.map(({ address }) => address), user });
          setTimeout(done, delay);
        });
      });
    },
  });
  // A client that is killed, or that is not let in.
  mail.on('error', () => undefined);
  await new Promise<void>((resolve) => mail.listen(0, host, resolve));
  const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;
  return {
    url: `http://${host}:${portOf(web)}`,
    mailHost: `${host}:${portOf(mail.server)}`,
    taken() {
      const found = { posts, mails };
      [posts, mails] = [[], []];
      return found;
    },
    setDown(value) {
      isDown = value;
    },
    async close() {
      web.closeAllConnections();
      web.close();
      await new Promise<void>((resolve) => mail.close(resolve));
    },
  };
}
