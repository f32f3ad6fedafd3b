import { ConfigError, causesOf, codeOf, LotlakeError } from '../../base/config/lotlake-error.js';
import { unsoundError } from '../../core/lake/lake-error.js';
import { type MirrorPlace, unusable } from './mirror-layout.js';

/** End of the hint of an error of the service. */
const RESUME =
  'the lake of this machine and the snapshot of the mirror are as they were; the same command goes on with what was copied';

/**
 * The parts of an SDK error that are safe to show: its name, such as `AccessDenied` or `ECONNREFUSED`, and its status. Its
 * text may repeat parts of a request.
 */
function safeParts(error: unknown) {
  const code = causesOf(error)
    .map(codeOf)
    .find((each) => typeof each === 'string' && each !== '');
  const name = error instanceof Error && error.name !== 'Error' ? error.name : String(code ?? 'Error');
  const status: unknown = Reflect.get(Object(Reflect.get(Object(error), '$metadata')), 'httpStatusCode');
  return {
    name: /^\w{1,60}$/.test(name) ? name : 'Error',
    status: typeof status === 'number' ? status : undefined,
  };
}

/** Whether the same request may succeed soon. */
export function isTemporary(error: unknown): boolean {
  const { name, status } = safeParts(error);
  if (isLocal(error) || isRefused(name, status)) return false;
  return status === undefined || status >= 500 || status === 429 || PASSING.has(name);
}

/**
 * Names of errors that pass although their status does not say so. An upload in parts is gone if another push has sent the
 * same object meanwhile, or if a rule of the bucket ended it; the file is then sent from its beginning.
 */
const PASSING: ReadonlySet<string> = new Set(['RequestTimeout', 'NoSuchUpload']);

/** Whether an error is about a file of this machine. */
const isLocal = (error: unknown): boolean =>
  causesOf(error).some((each) => typeof Reflect.get(each, 'path') === 'string');

const isRefused = (name: string, status: number | undefined): boolean =>
  status === 401 || status === 403 || name === 'CredentialsProviderError' || REFUSALS.has(name);

const UNKNOWN_KEY =
  'the service does not know the access key: check AWS_ACCESS_KEY_ID or AWS_PROFILE, and that publish.endpoint is the service that gave it';
const EXPIRED = 'the credentials have expired: get new ones';

/** What to do about credentials that a service refuses, by the name of the error. Their status differs by service. */
const REFUSALS: ReadonlyMap<string, string> = new Map([
  ['InvalidAccessKeyId', UNKNOWN_KEY],
  // Of versitygw, with status 404.
  ['XAdminUserNotFound', UNKNOWN_KEY],
  [
    'SignatureDoesNotMatch',
    'the service knows the access key, and the secret is that of another one, or cut: check AWS_SECRET_ACCESS_KEY or the profile',
  ],
  ['RequestTimeTooSkewed', 'set the clock of this machine: it differs from that of the service by minutes'],
  ['ExpiredToken', EXPIRED],
  ['ExpiredTokenException', EXPIRED],
]);

const RIGHTS =
  'check the credentials that the AWS SDK finds (AWS_ACCESS_KEY_ID, AWS_PROFILE, …) and their rights to list, read, write and delete there';

/** Names of errors for a file that does not match its checksum. */
const OTHER_CONTENT: ReadonlySet<string> = new Set(['BadDigest', 'XAmzContentChecksumMismatch']);

/**
 * Turns an error of the SDK into a LotlakeError with its name, its status and the place. The text is dropped, so that no
 * part of a credential gets into a message. An abort and an error of a local file stay as they are.
 * @param file path of the file that was sent, if one was
 */
export function explain(
  error: unknown,
  { to, endpoint }: MirrorPlace,
  signal: AbortSignal,
  file?: string,
): unknown {
  if (signal.aborted || isLocal(error)) return error;
  if (error instanceof Error && error.message === 'Region is missing')
    return new ConfigError('no region is given', 'set publish.region, --region or AWS_REGION');
  const { name, status } = safeParts(error);
  const at = endpoint === undefined ? to : `${to} at ${endpoint}`;
  const what = `${at}: ${name}${status === undefined ? '' : `, status ${status}`}`;
  if (file !== undefined && OTHER_CONTENT.has(name))
    return unsoundError(
      `${file} does not have its checksum (${what})`,
      'nothing was switched; lotlake verify tells whether it is damaged',
    );
  if (isRefused(name, status))
    return new LotlakeError('MIRROR_REFUSED', what, {
      outcome: 'refused',
      hint: `${REFUSALS.get(name) ?? RIGHTS}; ${RESUME}`,
    });
  if (isTemporary(error))
    return new LotlakeError('MIRROR_UNREACHABLE', what, {
      outcome: 'unavailable',
      retryable: true,
      hint: `check the network and publish.endpoint; ${RESUME}`,
    });
  if (name === 'NoSuchBucket')
    return unusable('MIRROR_NOT_FOUND', what, 'make the bucket, or name another place; nothing was sent');
  return new LotlakeError('MIRROR_FAILED', what, {
    hint: `check publish.region, publish.endpoint and publish.pathStyle; ${RESUME}`,
  });
}
