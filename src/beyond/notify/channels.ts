import { readFileSync } from 'node:fs';
import type { Config } from '../../base/config/config.js';
import { ConfigError, messageOf } from '../../base/config/lotlake-error.js';
import { LOCAL } from '../../base/config/problems.js';
import { hideKey } from '../../base/config/redact.js';
import { mailHtml, plainText, telegramHtml, withinBytes, withoutMarkup } from './formats.js';
import type { Notice, Route } from './notice.js';
import { post } from './post.js';

/** Bytes of a message of ntfy; it makes a file of a longer one. */
const MOST_NTFY = 4096;

/** Milliseconds that a mail server may take for each step, and for all. */
const PATIENCE = 5000;
const MOST_PATIENCE = 15_000;

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

/** Every channel of the settings. */
export function channelsOf({ notify }: Config, env: NodeJS.ProcessEnv = process.env): Channel[] {
  const { url, on, channels } = notify;
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
      'idempotency-key': id,
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
    await post(origin, body, signal, token === undefined ? {} : { authorization: `Bearer ${token}` });
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
  const { createTransport } = await import('nodemailer');
  const transport = createTransport({
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (protocol === 'smtps:' ? 465 : 587) : Number(port),
    secure: protocol === 'smtps:',
    requireTLS: protocol === 'smtp:' && username !== '' && !LOCAL.includes(hostname),
    ...(username === '' ? {} : { auth: { user: decodeURIComponent(username), pass: pass ?? '' } }),
    connectionTimeout: PATIENCE,
    greetingTimeout: PATIENCE,
    socketTimeout: PATIENCE,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  try {
    const sending = transport.sendMail({
      from: { name: 'lotlake', address: from },
      to: [first, ...others],
      subject: withoutMarkup(notice.subject).replaceAll('\n', ' '),
      text: plainText(notice),
      html: mailHtml(notice),
      // A mailbox that gets it twice shows it once.
      messageId: `<${id}@${from.replace(/.*@/, '')}>`,
      headers: { 'auto-submitted': 'auto-generated' },
    });
    // It may fail once nobody waits for it.
    sending.catch(() => undefined);
    const { rejected } = await Promise.race([
      sending,
      untilAborted(AbortSignal.any([signal, AbortSignal.timeout(MOST_PATIENCE)])),
    ]);
    return rejected.length === 0 ? undefined : `the mail server did not take it for ${rejected.join(', ')}`;
  } finally {
    transport.close();
  }
}

/** Rejects when a signal is aborted. */
const untilAborted = (signal: AbortSignal): Promise<never> =>
  new Promise((_, reject) => {
    const late = (): void => reject(new Error('it did not answer in time'));
    if (signal.aborted) late();
    else signal.addEventListener('abort', late, { once: true });
  });
