import { randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import { jsonHash, jsonIn } from '../../../base/config/json.js';
import { LotlakeError, messageOf } from '../../../base/config/lotlake-error.js';
import { append, isLink, makeFolder, realPlace, replaceFile } from '../../../base/config/owned.js';
import { type StreamName, streamNames } from '../../service/streams.js';
import { checksumOf, syncFiles, unwritable, writing } from '../disk.js';
import { FINGERPRINTS, ID, MOST_SEQUENCE } from '../ids.js';
import { SCHEMA_VERSION } from '../manifest.js';
import { arePrintsSound, endOfPrints } from './fingerprints.js';
import { heldBy, type LandedPage } from './landed-page.js';

const passSchema = z.object({
  /** Format of the lake that it belongs to. */
  format: z.literal(SCHEMA_VERSION),
  pass_id: z.string().regex(ID),
  stream: z.enum(streamNames),
  run_id: z.string().regex(ID),
  /**
   * Place in the order of the lake of the run that used the pass last: that of its snapshot, once it is published.
   */
  sequence: z.int().min(0).max(MOST_SEQUENCE),
  /** Service of its requests; null if the settings do not name it. */
  origin: z.string().nullable(),
  /** `full` requests everything, `window` records that changed in the last minutes, `lookup` single vehicles. */
  kind: z.enum(['full', 'window', 'lookup']),
  /** Parameters of every request of the pass, without the page. */
  request: z.record(z.string(), z.union([z.string(), z.number()])),
  /**
   * What a full pass over `/cars` holds: all records (`keyframe`), or all but those that the lake had and the passes of
   * `group` have landed (`delta`). Null in other passes, which hold all of theirs.
   */
  form: z.enum(['keyframe', 'delta']).nullable(),
  /** The keyframe that a delta builds on. */
  keyframe: z.string().nullable(),
  /** Every pass that a delta builds on, from its keyframe on. */
  group: z.array(z.string()),
  /** Fingerprint of the contract that the pages were compared with. */
  contract: z.string(),
  state: z.enum(['open', 'sealed', 'abandoned']),
  /** Why the pass is abandoned, or what it does not prove, and why. */
  reason: z.string().nullable(),
  /** Whether the pass proves that missing records are absent, except in `unproven`. */
  complete: z.boolean(),
  started_at: z.iso.datetime(),
  ended_at: z.string().nullable(),
  /**
   * Seconds by which the clock of the machine was ahead of the service's `Date`, which `started_at` follows; null if the
   * service told no time.
   */
  clock_ahead: z.number().nullable(),
  pages: z.int(),
  /** Records of the answers, and the bytes of these records. */
  records: z.int(),
  bytes: z.int(),
  /** Records in the files of the pages. */
  landed: z.int(),
  /**
   * Hash of the ledger of a pass that has ended: its pages with their checksums, and its id. So pages of another pass do not
   * count as its own. Null while it is open.
   */
  ledger: z.string().nullable(),
  first_id: z.number().nullable(),
  last_id: z.number().nullable(),
  total: z.int().nullable(),
  per_page: z.int().nullable(),
  drift: z.array(z.object({ path: z.string(), kinds: z.int() })),
  /** Whether a published snapshot holds the records of the pass. */
  published: z.boolean(),
  /** Ranges of ids, borders left out, in which a record may have slipped from page to page while the list moved. */
  unproven: z.array(z.tuple([z.number(), z.number()])),
  /** Sources whose lists were walked whole, if they were requested one by one; else null. */
  sources: z.array(z.int()).nullable(),
  /** Sources that the service refused to the key at a start or at the end of the pass: it says nothing about them. */
  hidden: z.array(z.int()),
  /** Results of lookups that brought no record, by their names. */
  answers: z.record(z.string(), z.enum(['missing', 'refused', 'unreadable', 'other'])),
  /** Pages that runs could not load, by file. */
  load_failures: z.array(z.object({ page: z.string(), run_id: z.string(), error: z.string() })),
  /** When lotlake found that files of the pass are not as they were landed; null if they are, or nobody looked. */
  damaged_at: z.string().nullable(),
});

/** `pass.json`: one walk through a list of the service. */
export type PassRecord = Readonly<z.output<typeof passSchema>>;

/** A pass on disk, being filled or read. */
export interface Pass {
  readonly folder: string;
  readonly record: PassRecord;
  /** Pages that are landed and whole, in the order of receipt. */
  readonly pages: readonly LandedPage[];
}

/** What a new pass is to hold. */
export type PassForm = Pick<PassRecord, 'form' | 'keyframe' | 'group'>;

export type PassRequest = Pick<PassRecord, 'stream' | 'run_id' | 'origin' | 'kind' | 'request' | 'contract'> &
  Pick<PassRecord, 'sequence'> &
  Partial<PassForm>;

/** An id of a run or pass, which begins with its start, such as `20261118T020000Z-0a1b2c`. */
export const newId = (start: Date): string =>
  `${start.toISOString().replaceAll(/[-:]|\.\d+/g, '')}-${randomBytes(3).toString('hex')}`;

export function openPass(landing: string, request: PassRequest, now: Date): Pass {
  const passId = newId(now);
  const folder = join(landing, request.stream, passId);
  makeFolder(folder);
  const record: PassRecord = {
    format: SCHEMA_VERSION,
    pass_id: passId,
    form: null,
    keyframe: null,
    group: [],
    ...request,
    state: 'open',
    reason: null,
    complete: false,
    started_at: now.toISOString(),
    ended_at: null,
    clock_ahead: null,
    ledger: null,
    total: null,
    published: false,
    unproven: [],
    sources: null,
    hidden: [],
    answers: {},
    load_failures: [],
    damaged_at: null,
    ...sumsOf([]),
  };
  writeRecord(folder, record);
  return { folder, record, pages: [] };
}

/** A pass whose `pass.json` or ledger cannot be read. */
export interface UnreadablePass {
  readonly folder: string;
  readonly pass_id: string;
  readonly reason: string;
}

/** Passes of one or all streams that can be read, stream by stream, oldest first in each by {@link inMergedOrder}. */
export function listPasses(landing: string, stream?: StreamName): Pass[] {
  return findPasses(landing, stream).passes;
}

/**
 * Passes as {@link listPasses} gives them, and those that cannot be read: a damaged pass must not stop a run that does not
 * need it. A folder without a `pass.json` and without a page is not a pass.
 */
export function findPasses(landing: string, stream?: StreamName) {
  const passes: Pass[] = [];
  const unreadable: UnreadablePass[] = [];
  for (const folder of foldersIn(landing, stream === undefined ? streamNames : [stream])) {
    if (!isPass(folder)) continue;
    try {
      if (isLink(folder))
        throw new TypeError(`it is a link to ${realPlace(folder)}, and no folder of this lake`);
      passes.push(readPass(folder));
    } catch (error) {
      const reason = messageOf(error).replaceAll(/\s+/g, ' ');
      unreadable.push({ folder, pass_id: basename(folder), reason });
    }
  }
  const byStream = streamNames.flatMap((name) =>
    passes.filter(({ record }) => record.stream === name).sort(inMergedOrder),
  );
  return { passes: byStream, unreadable };
}

/**
 * Orders passes as the runs of the lake used them. Times say nothing, since clocks are set back: only of two passes of one run,
 * the one that ended first comes first.
 */
export function inMergedOrder({ record: a }: Pass, { record: b }: Pass): number {
  const endOf = ({ ended_at, started_at, pass_id }: PassRecord): string =>
    `${ended_at ?? started_at} ${pass_id}`;
  return a.sequence - b.sequence || (endOf(a) < endOf(b) ? -1 : 1);
}

function foldersIn(landing: string, names: readonly StreamName[]): string[] {
  const parents = names.map((name) => join(landing, name)).filter((parent) => existsSync(parent));
  return parents.flatMap((parent) =>
    readdirSync(parent)
      .map((name) => join(parent, name))
      .sort(),
  );
}

function isPass(folder: string): boolean {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory() !== true) return false;
  return readdirSync(folder).some((name) => name === 'pass.json' || name.endsWith('.gz'));
}

/** Reads one pass. Throws LAND_FAILED if its `pass.json` is not valid. */
export function readPass(folder: string): Pass {
  const record = readRecord(folder);
  const { pass_id, stream } = record;
  if (join(stream, pass_id) !== join(basename(dirname(folder)), basename(folder)))
    throw new LotlakeError('LAND_FAILED', `${join(folder, 'pass.json')} is that of ${stream}/${pass_id}`, {
      hint: 'give the folder of this pass its name back, or move it away',
    });
  return { folder, record, pages: readLedger(folder) };
}

function readRecord(folder: string): PassRecord {
  const path = join(folder, 'pass.json');
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (cause) {
    throw new LotlakeError('LAND_FAILED', `${path} cannot be read`, { cause });
  }
  const parsed = passSchema.safeParse(content);
  if (parsed.success) return parsed.data;
  // Earlier formats had no such member.
  const { format } = z.object({ format: z.int().optional() }).catch({}).parse(content);
  if (format === SCHEMA_VERSION)
    throw new LotlakeError('LAND_FAILED', `${path} is not valid: ${z.prettifyError(parsed.error)}`, {
      hint: 'move the folder of this pass away and run again',
    });
  throw new LotlakeError(
    'LAND_FAILED',
    `${path} has ${format === undefined ? 'an earlier format' : `format ${format}`}, and this lotlake reads format ${SCHEMA_VERSION} alone`,
    {
      hint: 'nothing was changed; name another --output, or move the folder of this pass away and run again',
    },
  );
}

function writeRecord(folder: string, record: PassRecord): void {
  const path = join(folder, 'pass.json');
  writing(path, () => replaceFile(path, `${JSON.stringify(record, null, 2)}\n`));
}

const LEDGER = 'pages.ndjson';

/** Adds a landed page to the ledger of its pass. */
export function recordPage(folder: string, page: LandedPage): void {
  const path = join(folder, LEDGER);
  // Each line begins with its line end: a torn line must not swallow the next one.
  const separator = existsSync(path) ? '\n' : '';
  writing(path, () => append(path, separator + JSON.stringify(page)));
}

/** The form of the file names of pages. */
const PAGE_FILE = /^[\w-][\w.-]*$/;

/**
 * Pages of a ledger whose files exist and have their size, and whose left out records are named. A crash may leave a torn last line, which is ignored; so are lines
 * that name no file of the pass.
 */
function readLedger(folder: string): LandedPage[] {
  const path = join(folder, LEDGER);
  if (!existsSync(path)) return [];
  const byFile = new Map<string, LandedPage>();
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    const page = jsonIn(line) as LandedPage | null | undefined;
    if (page == null || !PAGE_FILE.test(String(page.file))) continue;
    // A page that was landed again under its name counts once, at its later receipt.
    byFile.delete(page.file);
    byFile.set(page.file, page);
  }
  const sizeOf = (name: string): number | undefined => {
    const file = lstatSync(join(folder, name), { throwIfNoEntry: false });
    return file?.isFile() === true ? file.size : undefined;
  };
  const printed = sizeOf(FINGERPRINTS) ?? 0;
  return [...byFile.values()].filter(
    ({ file, fileBytes, prints }) =>
      sizeOf(file) === fileBytes && (!prints?.leftOut || endOfPrints(prints) <= printed),
  );
}

/** Changes members of `pass.json`, such as the run that uses the pass, or that its records are published. */
export function changePass(folder: string, changed: Partial<PassRecord>): PassRecord {
  const record = { ...readRecord(folder), ...changed };
  writeRecord(folder, record);
  return record;
}

/** Notes sources that the service refuses to the key. Returns those that were not noted before. */
export function noteHidden(folder: string, sources: readonly number[]): number[] {
  const { hidden } = readRecord(folder);
  const more = sources.filter((source) => !hidden.includes(source));
  if (more.length > 0) changePass(folder, { hidden: [...hidden, ...more].sort((a, b) => a - b) });
  return more;
}

/** Notes that a run could not load a page. Returns whether another run failed at it before. */
export function noteLoadFailure(folder: string, failure: PassRecord['load_failures'][number]): boolean {
  const { load_failures: before } = readRecord(folder);
  changePass(folder, { load_failures: [...before, failure] });
  return before.some(({ page, run_id }) => page === failure.page && run_id !== failure.run_id);
}

/** Opens a sealed pass that lost pages, so that they are requested again. */
export function reopenPass({ folder }: Pass): Pass {
  changePass(folder, { state: 'open', complete: false, ended_at: null, ledger: null });
  return readPass(folder);
}

/** A page of a pass that is not as it was landed. */
export interface DamagedPage {
  /** Path of its file. */
  readonly path: string;
  /** Path of the file that changed: that of the page, or the one with the fingerprints of the records that it leaves out. */
  readonly changed: string;
}

/** Whether the ledger of a pass is the one that it ended with. One that lacks pages is told by {@link isWhole}. */
export const hasOwnLedger = (pass: Pass): boolean =>
  pass.record.ledger === null ||
  !isWhole(pass) ||
  pass.record.ledger === ledgerHash(pass.record.pass_id, pass.pages);

const ledgerHash = (passId: string, pages: readonly LandedPage[]): string =>
  jsonHash([passId, pages.map(({ file, sha256, prints }) => [file, sha256, prints ?? null])]);

/**
 * Pages that changed since they were landed, or the ledger, if it is that of other pages.
 */
export async function damagedPages(pass: Pass, signal?: AbortSignal): Promise<DamagedPage[]> {
  const { folder, pages } = pass;
  const damaged: DamagedPage[] = [];
  const ledger = join(folder, LEDGER);
  if (!hasOwnLedger(pass)) damaged.push({ path: ledger, changed: ledger });
  for (const { file, sha256, prints } of pages) {
    signal?.throwIfAborted();
    const path = join(folder, file);
    if ((await checksumOf(path)) !== sha256) damaged.push({ path, changed: path });
    else if (prints !== undefined && !arePrintsSound(folder, prints))
      damaged.push({ path, changed: join(folder, FINGERPRINTS) });
  }
  return damaged;
}

/** Notes a lookup that brought no record. It is not made again. */
export function noteAnswer(folder: string, name: string, answer: PassRecord['answers'][string]): void {
  changePass(folder, { answers: { ...readRecord(folder).answers, [name]: answer } });
}

/** Whether every page of a sealed pass still exists. */
export function isWhole({ pages, record }: Pass): boolean {
  const records = sum(pages.map((page) => page.records));
  return pages.length === record.pages && records === record.records;
}

/** Records of a pass that its files leave out. */
export const leftOutOf = ({ records, landed }: Pick<PassRecord, 'records' | 'landed'>): number =>
  records - landed;

export const landedPassIds = (landing: string): ReadonlySet<string> =>
  new Set(foldersIn(landing, streamNames).map((folder) => basename(folder)));

/**
 * Waits until the files of a pass are on disk. A run does so before it seals the pass, so after a power cut a sealed pass
 * has whole files. If the cut lost a name, the pass is seen to lack a page. The folder is synced before the publish.
 */
export async function syncPass(folder: string): Promise<void> {
  try {
    const files = readdirSync(folder).filter((name) => !name.endsWith('.tmp'));
    await syncFiles(files.map((name) => join(folder, name)));
  } catch (error) {
    throw unwritable(folder, error);
  }
}

/** Ends a pass as sealed or abandoned, with the sums of its pages. Members that `end` leaves out stay as they are. */
export function endPass(
  { folder }: Pick<Pass, 'folder'>,
  end: Pick<PassRecord, 'state' | 'reason' | 'complete'> &
    Partial<Pick<PassRecord, 'total' | 'run_id' | 'sequence' | 'unproven' | 'published' | 'sources'>>,
  now: Date,
): PassRecord {
  const pages = readLedger(folder);
  const ledger = ledgerHash(basename(folder), pages);
  return changePass(folder, { ...end, ended_at: now.toISOString(), ledger, ...sumsOf(pages) });
}

function sumsOf(pages: readonly LandedPage[]) {
  const ids = pages.flatMap((page) => [page.firstId, page.lastId]).filter((id) => id !== null);
  ids.sort((a, b) => a - b);
  const drift = new Map<string, number>();
  for (const { path, kinds } of pages.flatMap((page) => page.drift))
    drift.set(path, (drift.get(path) ?? 0) | kinds);
  return {
    pages: pages.length,
    records: sum(pages.map((page) => page.records)),
    bytes: sum(pages.map((page) => page.bytes)),
    landed: sum(pages.map((page) => heldBy(page).records)),
    first_id: ids[0] ?? null,
    last_id: ids.at(-1) ?? null,
    per_page: pages[0]?.perPage ?? null,
    drift: [...drift].map(([path, kinds]) => ({ path, kinds })),
  };
}

const sum = (values: readonly number[]): number => values.reduce((total, value) => total + value, 0);
