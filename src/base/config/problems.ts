/** Hosts of this machine: a key may be sent to them without https, and no proxy is used. */
export const LOCAL: readonly string[] = ['127.0.0.1', 'localhost', '[::1]'];

/**
 * What is wrong with a URL of http or https; undefined if nothing is. Any path and query will do.
 * @param advice where credentials belong, as the message goes on
 */
export function webProblem(given: string, example = 'https://host/path', advice = ''): string | undefined {
  if (!URL.canParse(given)) return `it is no URL such as ${example}`;
  const { protocol, username, password } = new URL(given);
  if (protocol !== 'https:' && protocol !== 'http:') return 'it is no URL of http or https';
  return username === '' && password === '' ? undefined : `it holds credentials${advice}`;
}

/** What is wrong with the URL of a topic of ntfy; undefined if nothing is. */
export function topicProblem(given: string): string | undefined {
  const problem = webProblem(given, 'https://ntfy.sh/topic', '; a token belongs in LOTLAKE_NTFY_TOKEN');
  if (problem !== undefined) return problem;
  const { protocol, hostname, pathname, search, hash } = new URL(given);
  if (protocol === 'http:' && !LOCAL.includes(hostname))
    return 'it is not https, and topic and token would travel in the clear';
  return /^\/[\w-]{1,64}$/.test(pathname) && search + hash === '' ? undefined : 'its path is not one topic';
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}

/** What is wrong with the address of a mail server; undefined if nothing is. */
export function smtpProblem(given: string): string | undefined {
  if (!URL.canParse(given)) return 'it is no address such as smtps://user@mail.example.com';
  const { protocol, hostname, username, password, pathname } = new URL(given);
  if (!isDecodable(username)) return 'its user has a % that must be written %25';
  if (protocol !== 'smtps:' && protocol !== 'smtp:') return 'it is no address of smtps or smtp';
  if (password !== '') return 'it holds a password; that belongs in LOTLAKE_SMTP_PASSWORD, or in secretFile';
  return hostname !== '' && /^\/?$/.test(pathname) ? undefined : 'it names no host, or a path behind it';
}

function queryProblem(url: string): string | undefined {
  const { search, hash } = new URL(url);
  return search === '' && hash === '' ? undefined : 'it has a query or a fragment';
}

/**
 * What is wrong with a base URL that a key is sent to; undefined if nothing is.
 * @param variable of the environment that holds the key
 */
export function baseUrlProblem(given: string, example: string, variable: string): string | undefined {
  const problem = webProblem(given, example, `; the key belongs in ${variable}`);
  if (problem !== undefined) return problem;
  const { protocol, hostname } = new URL(given);
  if (protocol === 'http:' && !LOCAL.includes(hostname))
    return 'it is not https, and the key would travel in the clear; only a service on this machine may do without';
  const query = queryProblem(given);
  return query && `${query}; only the path is used`;
}

/** Bucket and prefix of a place in object storage; the prefix is empty or ends with a slash. */
export function bucketOf(place: string): { readonly bucket: string; readonly prefix: string } {
  const [, bucket = '', path = ''] = /^s3:\/\/([^/]*)\/*(.*?)\/*$/.exec(place) ?? [];
  return { bucket, prefix: path === '' ? '' : `${path}/` };
}

/** What is wrong with a place in object storage; undefined if nothing is. */
export function placeProblem(given: string): string | undefined {
  const { bucket, prefix } = bucketOf(given);
  if (!/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/.test(bucket)) return 'it is no place such as s3://bucket/prefix';
  const isPlain = prefix
    .split('/')
    .slice(0, -1)
    .every((name) => /^[\w.=+-]+$/.test(name) && !/^\.+$/.test(name));
  return isPlain
    ? undefined
    : 'its prefix has an empty name, or characters other than letters, digits and . _ = + -';
}

/** What is wrong with the storage class of objects; undefined if nothing is. */
export function storageProblem(given: string): string | undefined {
  if (!/^[A-Z][A-Z0-9_]*$/.test(given)) return 'it is no name such as STANDARD_IA';
  return ['GLACIER', 'DEEP_ARCHIVE'].includes(given)
    ? 'its objects must be restored before anybody can read them; GLACIER_IR and INTELLIGENT_TIERING can be read at once'
    : undefined;
}

/** What is wrong with the address of a database; undefined if nothing is. */
export function databaseProblem(given: string): string | undefined {
  if (!/^postgres(ql)?:\/\//.test(given) || !URL.canParse(given))
    return 'it is no address such as postgres://user@host:5432/site';
  const { password, pathname, searchParams } = new URL(given);
  if (password !== '' || searchParams.has('password'))
    return 'it holds a password; that belongs in PGPASSWORD, in passwordFile or in ~/.pgpass';
  return pathname.length > 1 ? undefined : 'it names no database, such as postgres://user@host:5432/site';
}

/** Whether the place of lineage events is a URL; otherwise it is a file. */
export function isUrl(place: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(place);
}

/** What is wrong with the file or URL of lineage events; undefined if nothing is. */
export const lineageProblem = (given: string): string | undefined =>
  isUrl(given) ? (webProblem(given) ?? queryProblem(given)) : undefined;

const AWS_KEYS = '; they belong in the environment, as AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY';

/** What is wrong with the URL of an S3 service; undefined if nothing is. */
export const endpointProblem = (given: string): string | undefined =>
  webProblem(given, 'https://s3.example.com', AWS_KEYS) ?? queryProblem(given);

/**
 * What is wrong with a key; undefined if nothing is. A header carries visible ASCII with spaces inside, and nothing else
 * arrives unchanged.
 */
export function keyProblem(given: string): string | undefined {
  if (given.trim() === '') return 'it is empty';
  const at = [...given].findIndex((character) => !/[\x20-\x7e]/.test(character));
  if (at >= 0) return `character ${at + 1} of it is ${nameOf(given[at] ?? '')}, which no header takes`;
  return given === given.trim() ? undefined : 'it begins or ends with a space';
}

const nameOf = (character: string): string =>
  /[\r\n]/.test(character)
    ? 'a line break'
    : /[\u0000-\u001f\u007f]/.test(character)
      ? 'a control character'
      : 'not ASCII';
