import { createHash } from 'node:crypto';
import { gunzipSync, gzipSync } from 'node:zlib';
import { z } from 'zod';
import { byName } from '../../base/config/json.js';
import { killPoint } from '../../base/config/kill-point.js';
import { type Current, damaged, FILES, readCurrent, TABLES, type TableStates } from './mirror-layout.js';
import { forEach, type ObjectStore } from './store.js';

/** Objects that make the metadata of tables current, such as `version-hint.text`: their texts by name. */
export type Heads = ReadonlyMap<string, string>;

/** A head: its name and its text. */
export type Head = readonly [name: string, text: string];

const textsSchema = z.record(z.string(), z.string());

/**
 * Stores heads in one gzipped object before the switch, and returns its name. If a push dies after its switch, nothing is
 * lost: `current.json` names this object, and the next command that opens the mirror writes the missing heads.
 */
export async function stageHeads(store: ObjectStore, heads: Heads): Promise<string> {
  const body = gzipSync(JSON.stringify(Object.fromEntries(heads)));
  const name = `${FILES}${createHash('sha256').update(body).digest('hex')}`;
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

/** Metadata and hints that readers look for. A catalog names its metadata differently. */
const HEAD = new RegExp(
  `^${TABLES}([^/]+)/metadata/(?:v([1-9]\\d*)(?:\\.gz)?\\.metadata\\.json|version-hint\\.text)$`,
);

/** The table and version of an object by the name of a head; the version of a hint is null. Undefined for other objects. */
export function headOf(name: string) {
  const [, table, digits] = HEAD.exec(name) ?? [];
  return table === undefined ? undefined : { table, version: digits === undefined ? null : Number(digits) };
}

/** Whether a head is a hint. */
export const isHint = (name: string): boolean => headOf(name)?.version === null;

/** What is read from the metadata of a table to say which night it has. */
const nightSchema = z.object({
  'current-snapshot-id': z.int(),
  snapshots: z.array(z.object({ 'snapshot-id': z.int(), summary: z.record(z.string(), z.string()) })),
});

/**
 * Says the version and night of each table of the heads. A table that the heads no longer have keeps its version, so that
 * nobody takes what is left of it for metadata of somebody else, and so that it goes on from there if it comes back.
 * @param earlier what `current.json` said before
 * @param contents hashes of the tables that were described anew
 */
export function statesOf(
  heads: Heads,
  earlier: TableStates = byName({}),
  contents: ReadonlyMap<string, string | undefined> = new Map(),
): TableStates {
  const gone = Object.entries(earlier).map(([table, { version }]) => [table, { version, night: null }]);
  const found = [...heads].flatMap(([name, text]) => {
    const { table = '', version = null } = headOf(name) ?? {};
    if (version === null) return [];
    const content = contents.has(table) ? contents.get(table) : earlier[table]?.content;
    return [[table, { version, night: nightOf(text), ...(content === undefined ? {} : { content }) }]];
  });
  return byName(Object.fromEntries([...gone, ...found]));
}

/** Snapshot of the lake that the current metadata of a table has. */
function nightOf(text: string): string | null {
  const metadata = nightSchema.parse(JSON.parse(text));
  const current = metadata.snapshots.find((each) => each['snapshot-id'] === metadata['current-snapshot-id']);
  return current?.summary['lotlake.snapshot'] ?? null;
}

/** Heads to write: metadata first, then the hints that name it. */
export interface Unwritten {
  readonly metadata: readonly Head[];
  readonly hints: readonly Head[];
}

/** The heads that differ from those before. */
export function changedHeads(heads: Heads, before: Heads): Unwritten {
  const changed = [...heads].filter(([name, text]) => before.get(name) !== text);
  return {
    metadata: changed.filter(([name]) => !isHint(name)),
    hints: changed.filter(([name]) => isHint(name)),
  };
}

/**
 * Writes heads that `current.json` names, the hints last, so that no hint names metadata that is not there. Metadata is
 * never overwritten. Writing stops once `current.json` names other heads.
 * @param heads the object that stores them
 * @returns names of the metadata that somebody else has written under the same name; hints of these tables are not written
 */
export async function writeHeads(
  store: ObjectStore,
  { heads }: Pick<Current, 'heads'>,
  { metadata, hints }: Unwritten,
): Promise<readonly string[]> {
  const written = await forEach(store, metadata, async ([name, text]) => {
    const tag = await store.replace(name, text, undefined);
    killPoint('mirror.metadata-written');
    return tag === undefined ? [name] : [];
  });
  const taken = written.flat();
  killPoint('mirror.metadata-switched');
  if ((await readCurrent(store))?.current.heads !== heads) return [];
  const others = new Set(taken.map((name) => headOf(name)?.table));
  const own = hints.filter(([name]) => !others.has(headOf(name)?.table));
  await forEach(store, own, async ([name, text]) => {
    await store.send(name, text);
    killPoint('mirror.hint-written');
  });
  return taken;
}
