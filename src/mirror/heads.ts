import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { killPoint } from '../config/kill-point.js';
import { type Current, damaged, FILES, readCurrent } from './layout.js';
import { forEach, type ObjectStore } from './store.js';

/** Objects that make the metadata of tables current, such as `version-hint.text`: their texts by name. */
export type Heads = ReadonlyMap<string, string>;

const textsSchema = z.record(z.string(), z.string());

/** The gzipped object that stores heads: its name and its content. */
export function objectOf(heads: Heads) {
  const body = gzipSync(JSON.stringify(Object.fromEntries(heads)));
  return { name: `${FILES}${createHash('sha256').update(body).digest('hex')}`, body };
}

/**
 * Stores heads in one object before the switch, and returns its name. If a push dies after its switch, nothing is lost:
 * `current.json` names this object, and the next push writes the missing heads.
 */
export async function stageHeads(store: ObjectStore, heads: Heads): Promise<string> {
  const { name, body } = objectOf(heads);
  await store.send(name, body);
  return name;
}

/** The heads of the mirror's current metadata. Throws MIRROR_DAMAGED. */
export async function readHeads(store: ObjectStore, { heads }: Pick<Current, 'heads'>): Promise<Heads> {
  const found = await store.read(heads);
  if (found === undefined) throw damaged(store, heads, 'is missing');
  try {
    const texts: unknown = JSON.parse(gunzipSync(found.body).toString());
    return new Map(Object.entries(textsSchema.parse(texts)));
  } catch {
    throw damaged(store, heads, 'cannot be read');
  }
}

/** Suffix of an empty object that exists once all heads of an object are written. */
const WRITTEN = '.written';

/** The object that stores the heads of a mirror, and the one that exists once they are written. */
export const headObjects = ({ heads }: Pick<Current, 'heads'>): readonly string[] => [heads, heads + WRITTEN];

/**
 * Writes the heads that `current.json` names, the hints last, so that no hint names metadata that is not there. Hints are
 * compared each time, because a push that was paused may have set them back. Writing stops once `current.json` names other
 * heads.
 */
export async function writeHeads(store: ObjectStore, { heads: name }: Pick<Current, 'heads'>): Promise<void> {
  const heads = [...(await readHeads(store, { heads: name }))];
  const isWritten = (await store.read(name + WRITTEN)) !== undefined;
  const isHint = ([each]: readonly [string, string]): boolean => each.endsWith('.text');
  const metadata = isWritten ? [] : heads.filter((each) => !isHint(each));
  await forEach(store, metadata, ([each, text]) => store.send(each, text));
  killPoint('mirror.metadata-switched');
  if ((await readCurrent(store))?.current.heads !== name) return;
  await forEach(store, heads.filter(isHint), async ([each, text]) => {
    if ((await store.read(each))?.body.toString() !== text) await store.send(each, text);
  });
  if (!isWritten) await store.send(name + WRITTEN, '');
}
