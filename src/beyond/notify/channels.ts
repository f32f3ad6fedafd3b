import { readFileSync } from 'node:fs';
import type { Config } from '../../base/config/config.js';
import { ConfigError, messageOf } from '../../base/config/lotlake-error.js';
import { LOCAL } from '../../base/config/problems.js';
import { hideKey } from '../../base/config/redact.js';
import { mailHtml, plainText, telegramHtml, withinBytes, withoutMarkup } from './formats.js';
import type { Notice, Route } from './notice.js';
import { post, Unsure } from './post.js';

/** Bytes of a message of ntfy; it makes a file of a longer one. */
const MOST_NTFY = 4096;

/** Milliseconds that a mail server may take to let lotlake in, for each step, and for all. */
const GREETING = 5000;
const STEP = 20_000;
const ALL = 40_000;

/** Characters from which on a part of an address is taken for a secret. */
const LEAST_SECRET = 12;

/** A message to a channel. */
interface Message {
  /** The same for a message that is sent again. */
  readonly id: string;
  readonly notice: Notice;
  readonly signal: AbortSignal;
}

/** A channel of the settings. */
export interface Channel {
  readonly name: string;
  /** The channel as a message names it, such as `the channel phone (ntfy)`. */
  readonly place: string;
  readonly route: Route;
  /** Sends a message. Throws an Error with the reason, without a secret. Returns what went wrong with a part of it. */
  send(message: Message): Promise<string | undefined>;
}

type Settings = Config['notify']['channels'][string];

/** Every channel of the settings. From now on no message of lotlake holds their secrets. */
export function channelsOf({ notify }: Config, env: NodeJS.ProcessEnv = process.env): Channel[] {
  const { url, on, channels } = notify;
  for (const secret of [env.LOTLAKE_NTFY_TOKEN, env.LOTLAKE_TELEGRAM_TOKEN, env.LOTLAKE_SMTP_PASSWORD])
    hideKey(secret ?? '');
  for (const settings of [{ url }, ...Object.values(channels)])
    if ('url' in settings && settings.url !== undefined)
      for (const part of settings.url.split(/[/?&=#]+/).slice(2))
        if (part.length >= LEAST_SECRET) hideKey(part);
  const first: Channel[] =
    url === undefined
      ? []
      : [
          {
            name: 'notify.url',
            place: 'the webhook of notify.url',
            route: { on },
            send: (message) => sendTo({ kind: 'webhook', url, on }, message, env),
          },
        ];
  return [
    ...first,
    ...Object.entries(channels).map(([name, settings]) => ({
      name,
      place: `the channel ${name} (${settings.kind})`,
      route: settings,
      send: (message: Message) => sendTo(settings, message, env),
    })),
  ];
}

/** Sends a message the way of its channel. */
async function sendTo(
  settings: Settings,
  { id, notice, signal }: Message,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const { kind } = settings;
  if (kind === 'mail') return mail(settings, { id, notice, signal }, env);
  if (kind === 'webhook')
    await post(settings.url, { text: plainText(notice), id, ...notice.facts }, signal, {
      headers: { 'idempotency-key': id },
    });
  if (kind === 'ntfy') {
    const token = secretOf(settings, env.LOTLAKE_NTFY_TOKEN);
    const { origin, pathname } = new URL(settings.url);
    const body = {
      topic: pathname.slice(1),
      title: withoutMarkup(notice.subject),
      message: withinBytes(plainText(notice), MOST_NTFY),
      ...(notice.isUrgent ? { priority: 4 } : {}),
    };
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    await post(origin, body, signal, { headers, says: true });
  }
  if (kind === 'telegram') {
    const token = secretOf(settings, env.LOTLAKE_TELEGRAM_TOKEN);
    if (token === undefined)
      throw new ConfigError('no token is set', 'set LOTLAKE_TELEGRAM_TOKEN, or secretFile of the channel');
    await post(
      `${settings.server.replace(/\/+$/, '')}/bot${token}/sendMessage`,
      {
        chat_id: settings.chat,
        text: telegramHtml(notice),
        parse_mode: 'HTML',
        link_preview_options: { is_disabled: true },
      },
      signal,
      { says: true },
    );
  }
  return undefined;
}

/** The secret of a channel: that of its file, or that of the environment. */
function secretOf({ secretFile }: Settings, given: string | undefined): string | undefined {
  const secret = secretFile === undefined ? given || undefined : readSecret(secretFile);
  if (secret !== undefined) hideKey(secret);
  return secret;
}

function readSecret(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '');
  } catch (error) {
    throw new ConfigError(`its secret cannot be read: ${messageOf(error)}`);
  }
}

/** Sends a mail. A password goes only over TLS, or to this machine. */
async function mail(
  settings: Extract<Settings, { kind: 'mail' }>,
  { id, notice, signal }: Message,
  env: NodeJS.ProcessEnv,
): Promise<string | undefined> {
  const { protocol, hostname, port, username } = new URL(settings.server);
  const [first = '', ...others] = settings.to;
  const { from = first } = settings;
  const pass = secretOf(settings, env.LOTLAKE_SMTP_PASSWORD);
  const isHere = LOCAL.includes(hostname);
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (protocol === 'smtps:' ? 465 : 587) : Number(port),
    secure: protocol === 'smtps:',
    requireTLS: protocol === 'smtp:' && username !== '' && !isHere,
    // The certificate of a mail server on this machine is rarely one that others know.
    ignoreTLS: protocol === 'smtp:' && isHere,
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: pass ?? '' } }),
    connectionTimeout: GREETING,
    greetingTimeout: GREETING,
    socketTimeout: STEP,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    const { rejected } = await transport.sendMail({
      from: { name: 'lotlake', address: from },
      to: [first, ...others],
      subject: withoutMarkup(notice.subject).replaceAll('\n', ' '),
      text: plainText(notice),
      html: mailHtml(notice),
      messageId: `<${id}@${from.replace(/.*@/, '')}>`,
      headers: { 'auto-submitted': 'auto-generated' },
      signal: AbortSignal.any([signal, AbortSignal.timeout(ALL)]),
    });
    return rejected.length === 0 ? undefined : `the mail server did not take it for ${rejected.join(', ')}`;
  } catch (error) {
    throw isMailUnsure(error) ? new Unsure(messageOf(error)) : error;
  } finally {
    transport.close();
  }
}

/** Whether a mail may have arrived although its sending failed: the connection was there, and the server refused nothing. */
function isMailUnsure(error: unknown): boolean {
  const { name, responseCode, timeoutType, message } = Object(error);
  if (typeof responseCode === 'number') return false;
  return (
    name === 'AbortError' || timeoutType === 'SOCKET_TIMEOUT' || /closed|reset|EPIPE/i.test(String(message))
  );
}
