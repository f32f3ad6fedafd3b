import { LotlakeError, messageOf } from '../../base/config/lotlake-error.js';
import { type Head, type Heads, headOf, isHint, readHeads, type Unwritten, writeHeads } from './heads.js';
import { type Current, overtaken, readCurrent, type Switched, TABLES, unusable } from './mirror-layout.js';
import { forEach, type Listed, MOST_REMOVED, type ObjectStore, tagOf } from './store.js';

/** How a command opens a mirror. */
export interface Access {
  /** Whether the command changes the mirror. Others only warn about what they find, and may lack the right to write. */
  readonly isWriter: boolean;
  /** Removes metadata that lotlake did not write, instead of refusing it. */
  readonly discardForeign?: boolean;
  readonly warn: (message: string) => void;
}

/** An object of Iceberg metadata that another program wrote: its table, its version such as `v8`, and its name. */
type Foreign = Readonly<Record<'table' | 'version' | 'object', string>>;

/** An open mirror. */
export interface Opened {
  /** Undefined if nothing was pushed yet. */
  readonly mirror: Switched | undefined;
  readonly heads: Heads;
  /** Objects of the tables by name. */
  readonly objects: ReadonlyMap<string, Listed>;
  /** Number of heads that a killed push had left, and that were written now. */
  readonly finished: number;
  /** Metadata that was removed. */
  readonly discarded: readonly Foreign[];
}

/**
 * Opens a mirror: compares the metadata of its tables with `current.json`, and writes the heads that a killed push had left.
 * Throws MIRROR_FOREIGN if another program has written metadata, MIRROR_OVERTAKEN, MIRROR_DAMAGED and MIRROR_FORMAT. A
 * reader warns instead, and also if its credentials may only read.
 */
export async function openMirrored(store: ObjectStore, access: Access): Promise<Opened> {
  const mirror = await readCurrent(store);
  if (access.isWriter) return settle(store, mirror, access);
  try {
    return await settle(store, mirror, access);
  } catch (error) {
    if (!(error instanceof LotlakeError) || !NO_MATTER.has(error.code)) throw error;
    access.warn(`the tables of ${store.place} are left as they are: ${messageOf(error)} [${error.code}]`);
    return { mirror, heads: new Map(), objects: new Map(), finished: 0, discarded: [] };
  }
}

/** Errors that do not keep a reader from what `current.json` names. */
const NO_MATTER: ReadonlySet<string> = new Set([
  'MIRROR_REFUSED',
  'MIRROR_DAMAGED',
  'MIRROR_FOREIGN',
  'MIRROR_OVERTAKEN',
]);

async function settle(store: ObjectStore, mirror: Switched | undefined, access: Access): Promise<Opened> {
  const objects = await store.list(TABLES);
  const heads: Heads = mirror === undefined ? new Map() : await readHeads(store, mirror.current);
  const { foreign, ...unwritten } = await compareHeads(store, mirror?.current, heads, objects);
  if (foreign.length > 0) {
    // What looks foreign may be of a push that has switched since.
    const now = await readCurrent(store);
    if (now?.tag !== mirror?.tag) throw overtaken(store, now);
    if (access.discardForeign !== true) throw foreignError(store, foreign, 'nothing was sent');
    await removeForeign(
      store,
      foreign.filter(({ object }) => heads.has(object) && !isHint(object)),
    );
  }
  const left = [...unwritten.metadata, ...unwritten.hints];
  if (mirror !== undefined && left.length > 0) await finishHeads(store, mirror.current, unwritten);
  // Only now no hint names them.
  await removeForeign(
    store,
    foreign.filter(({ object }) => !heads.has(object)),
  );
  const replaced = new Set(foreign.map(({ object }) => object));
  const finished = left.filter(([name]) => !replaced.has(name)).length;
  return { mirror, heads, objects, finished, discarded: foreign };
}

async function removeForeign(store: ObjectStore, foreign: readonly Foreign[]): Promise<void> {
  for (let at = 0; at < foreign.length; at += MOST_REMOVED)
    await store.remove(foreign.slice(at, at + MOST_REMOVED).map(({ object }) => object));
}

/** Writes heads as {@link writeHeads} does. Throws MIRROR_FOREIGN if another program wrote metadata meanwhile. */
export async function finishHeads(
  store: ObjectStore,
  current: Pick<Current, 'heads' | 'snapshot_id'>,
  unwritten: Unwritten,
): Promise<void> {
  const taken = await writeHeads(store, current, unwritten);
  if (taken.length === 0) return;
  const foreign = taken.map((object) => foreignOf(object));
  throw foreignError(store, foreign, `the mirror has snapshot ${current.snapshot_id} except in these tables`);
}

/** @param text what a hint says */
function foreignOf(object: string, text = ''): Foreign {
  const { table = '', version = null } = headOf(object) ?? {};
  return { table, version: version === null ? `hint ${text.trim().slice(0, 40)}` : `v${version}`, object };
}

function foreignError({ place }: ObjectStore, foreign: readonly Foreign[], kept: string): LotlakeError {
  const shown = foreign.slice(0, 5).map(({ table, version, object }) => `${table} ${version} (${object})`);
  const more = foreign.length > shown.length ? ` and ${foreign.length - shown.length} more` : '';
  return unusable(
    'MIRROR_FOREIGN',
    `${place} has metadata that lotlake did not write: ${shown.join(', ')}${more}`,
    `${kept}; another program has changed these tables: give it read-only credentials. lotlake push --discard-foreign removes what it wrote, and the tables have the rows of lotlake again`,
  );
}

/**
 * Compares listed objects with the heads: which are missing or stale, and which are not of lotlake. Metadata of an earlier
 * version is never foreign, because no reader looks for it. An object whose tag is not its MD5 is read.
 */
async function compareHeads(
  store: ObjectStore,
  current: Current | undefined,
  heads: Heads,
  objects: ReadonlyMap<string, Listed>,
): Promise<Unwritten & { readonly foreign: readonly Foreign[] }> {
  const versions = newestVersions(current, heads);
  const strange = [...objects.keys()].filter((name) => {
    const found = headOf(name);
    if (found === undefined || heads.has(name)) return false;
    const newest = versions.get(found.table);
    if (newest === undefined) return true;
    return found.version !== null && found.version > newest;
  });
  const compared = await forEach(store, [...heads], (head) => compareHead(store, head, objects.get(head[0])));
  const foreign = [
    ...strange.map((object) => foreignOf(object)),
    ...compared.flatMap((each) => each.foreign),
  ];
  return {
    foreign,
    metadata: compared.flatMap((each) => each.metadata),
    hints: compared.flatMap((each) => each.hints),
  };
}

/** N of the newest `vN.metadata.json` of each table that lotlake knows. */
function newestVersions(current: Current | undefined, heads: Heads): ReadonlyMap<string, number> {
  const versions = new Map(
    Object.entries(current?.tables ?? {}).map(([table, { version }]) => [table, version]),
  );
  for (const name of heads.keys()) {
    const { table = '', version = null } = headOf(name) ?? {};
    if (version !== null) versions.set(table, version);
  }
  return versions;
}

const SAME = { foreign: [], metadata: [], hints: [] };

/** Compares one head with the object of its name. */
async function compareHead(store: ObjectStore, head: Head, listed: Listed | undefined) {
  const [name, text] = head;
  const missing = isHint(name) ? { ...SAME, hints: [head] } : { ...SAME, metadata: [head] };
  if (listed === undefined) return missing;
  if (listed.tag === tagOf(text)) return SAME;
  const found = (await store.read(name))?.body.toString();
  if (found === text) return SAME;
  // A push that was paused may have set a hint back.
  const isStale = isHint(name) && /^[1-9]\d*$/.test(found ?? '') && Number(found) < Number(text);
  if (found === undefined || isStale) return missing;
  return { ...missing, foreign: [foreignOf(name, found)] };
}
