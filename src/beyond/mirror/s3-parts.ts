import { createHash, type Hash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import type { CompletedPart, CreateMultipartUploadCommandInput, S3Client } from '@aws-sdk/client-s3';
import { killPoint } from '../../base/config/kill-point.js';
import { type Range, sendStream } from './s3-stream.js';
import type { Content } from './store.js';

const MiB = 1_048_576;

/** Sizes in bytes by which files are sent. */
export interface PartSizes {
  /** Largest file that is sent by one request; the services take 5 GiB. */
  readonly largest: number;
  /** Least size of a part but the last; the services take 5 MiB and more. */
  readonly part: number;
}

/** A connection that breaks costs one part. */
export const SIZES: PartSizes = { largest: 256 * MiB, part: 64 * MiB };

/** Most parts of an object. */
const MOST_PARTS = 10_000;

/** Bytes of every part of a file but the last, in whole MiB. Some services need parts of one size. */
export const partSize = (bytes: number, least: number): number =>
  Math.max(least, Math.ceil(bytes / MOST_PARTS / MiB) * MiB);

/** A connection to a bucket. */
interface Sending {
  readonly sdk: typeof import('@aws-sdk/client-s3');
  readonly send: S3Client['send'];
  readonly signal: AbortSignal;
}

/** The object to make, and its headers. */
type Target = CreateMultipartUploadCommandInput & { readonly Bucket: string; readonly Key: string };

/** Milliseconds to end an upload that failed. */
const PATIENCE = 10_000;

/**
 * Sends a file in parts, one after the other. The service compares each part with its SHA-256, and the object exists once
 * all parts are there and the file has its checksum. A part that fails is sent again. If the upload fails, it is ended, so
 * that the service keeps no parts; those of a push that was killed are removed when the file has been sent.
 * Throws the errors of the SDK, and BadDigest if the file does not have its checksum.
 * @param least least bytes of a part
 */
export async function sendInParts(...given: Parameters<typeof sendOnce>): Promise<void> {
  const [sending] = given;
  const upload = await sendOnce(...given).catch((error: unknown) => {
    // Another push has sent the file meanwhile and ended this upload, or a rule of the bucket has.
    if (error instanceof sending.sdk.NoSuchUpload) return sendOnce(...given);
    throw error;
  });
  await endOthers(sending, upload);
}

async function sendOnce(
  sending: Sending,
  target: Target,
  path: string,
  content: Content,
  least: number,
): Promise<Upload> {
  const { sdk, send, signal } = sending;
  const create = new sdk.CreateMultipartUploadCommand({ ...target, ChecksumAlgorithm: 'SHA256' });
  const { UploadId } = await send(create, { abortSignal: signal });
  const upload = { Bucket: target.Bucket, Key: target.Key, UploadId };
  try {
    const Parts = await sendParts(sending, upload, path, content, partSize(content.bytes, least));
    killPoint('mirror.parts-sent');
    const complete = new sdk.CompleteMultipartUploadCommand({ ...upload, MultipartUpload: { Parts } });
    await send(complete, { abortSignal: signal });
    return upload;
  } catch (error) {
    await endUpload(sending, upload);
    throw error;
  }
}

/** An upload that was begun. */
type Upload = Readonly<Record<'Bucket' | 'Key', string> & Record<'UploadId', string | undefined>>;

async function sendParts(
  { sdk, send, signal }: Sending,
  upload: Upload,
  path: string,
  { bytes, sha256 }: Content,
  size: number,
): Promise<CompletedPart[]> {
  const whole = createHash('sha256');
  const parts: CompletedPart[] = [];
  for (let start = 0; start < bytes; start += size) {
    const range = { start, end: Math.min(start + size, bytes) - 1 };
    const ContentLength = range.end - start + 1;
    const part = { PartNumber: parts.length + 1, ChecksumSHA256: await checksumIn(path, range, whole) };
    const { ETag } = await sendStream(signal, path, range, (Body) =>
      send(new sdk.UploadPartCommand({ ...upload, ...part, Body, ContentLength }), { abortSignal: signal }),
    );
    parts.push({ ...part, ETag });
    killPoint('mirror.part-sent');
  }
  if (whole.digest('hex') !== sha256) throw Object.assign(new Error(), { name: 'BadDigest' });
  return parts;
}

/** SHA-256 (base64) of a range of a file, which is also added to the hash of the whole. Throws BadDigest if it is shorter. */
async function checksumIn(path: string, range: Range, whole: Hash): Promise<string> {
  const hash = createHash('sha256');
  let left = range.end - range.start + 1;
  for await (const chunk of createReadStream(path, range)) {
    hash.update(chunk);
    whole.update(chunk);
    left -= chunk.length;
  }
  if (left > 0) throw Object.assign(new Error(), { name: 'BadDigest' });
  return hash.digest('base64');
}

/** Ends an upload, also after an abort. If that fails, a rule of the bucket has to remove its parts. */
const endUpload = ({ sdk, send }: Sending, upload: Upload): Promise<unknown> =>
  send(new sdk.AbortMultipartUploadCommand(upload), { abortSignal: AbortSignal.timeout(PATIENCE) }).catch(
    () => undefined,
  );

/** Ends other uploads of an object that is there now. A user may lack the right to list them, and a service the call. */
async function endOthers(sending: Sending, { Bucket, Key }: Upload): Promise<void> {
  const { sdk, send, signal } = sending;
  const list = new sdk.ListMultipartUploadsCommand({ Bucket, Prefix: Key });
  const { Uploads = [] } = await send(list, { abortSignal: signal }).catch(() => ({ Uploads: [] }));
  for (const upload of Uploads)
    if (upload.Key === Key) await endUpload(sending, { Bucket, Key, UploadId: upload.UploadId });
}
