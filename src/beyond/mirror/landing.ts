import { existsSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { jsonIn } from '../../base/config/json.js';
import { killPoint } from '../../base/config/kill-point.js';
import { makeFolder, move, temporaryOf } from '../../base/config/owned.js';
import { checksumOf, syncFiles, syncFolders } from '../../core/lake/disk.js';
import { isWhole, listPasses, type Pass, syncPass } from '../../core/lake/passes/pass.js';
import { streamNames } from '../../core/service/streams.js';
import { fetchWhole, LANDING } from './mirror-layout.js';
import { forEach, type ObjectStore } from './store.js';

/** Object of a pass that is written last. Without it, the pass in the mirror is not complete. */
const LIST = 'files.json';

const listSchema = z.array(
  z.object({
    file: z.string().regex(/^[\w.-]+$/),
    bytes: z.int(),
    sha256: z.string(),
  }),
);

type PassFile = z.output<typeof listSchema>[number];

/** Numbers of passes, files and bytes that were copied. A pass without a copied file does not count. */
function countCopied(copied: readonly (readonly PassFile[])[]) {
  const files = copied.flat();
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  return { passes: copied.filter(({ length }) => length > 0).length, files: files.length, bytes };
}

/**
 * Sends the sealed passes of landing, file by file below `landing/<stream>/<pass>/`. A file is not sent again if the mirror
 * has it with the same checksum.
 */
export async function pushLanding(landing: string, store: ObjectStore) {
  const sealed = listPasses(landing).filter((pass) => pass.record.state === 'sealed' && isWhole(pass));
  const copied: PassFile[][] = [];
  for (const pass of sealed) {
    store.signal.throwIfAborted();
    copied.push(await pushPass(pass, store));
  }
  return countCopied(copied);
}

/** Sends the files of a pass that the mirror lacks, and returns them. */
async function pushPass(pass: Pass, store: ObjectStore): Promise<PassFile[]> {
  const folder = `${LANDING}${pass.record.stream}/${pass.record.pass_id}/`;
  const files = await filesOfPass(pass);
  const stored = await listIn(store, folder);
  const missing = files.filter(({ file, sha256 }) => stored.get(file)?.sha256 !== sha256);
  await forEach(store, missing, async ({ file, ...content }) => {
    await store.sendFile(folder + file, join(pass.folder, file), content);
    killPoint('mirror.page-sent');
  });
  if (missing.length > 0) await store.send(folder + LIST, JSON.stringify(files));
  return missing;
}

/** Files of a pass with their checksums; those of its pages are in the ledger. */
async function filesOfPass({ folder, pages }: Pass): Promise<PassFile[]> {
  const known = new Map(pages.map(({ file, sha256 }) => [file, sha256]));
  const found: PassFile[] = [];
  for (const file of readdirSync(folder).filter((name) => !name.endsWith('.tmp'))) {
    const path = join(folder, file);
    found.push({ file, bytes: statSync(path).size, sha256: known.get(file) ?? (await checksumOf(path)) });
  }
  return found;
}

/** Files of a pass in the mirror by name; none if it is not complete there. */
async function listIn(store: ObjectStore, folder: string): Promise<Map<string, PassFile>> {
  const found = await store.read(folder + LIST);
  const files = listSchema.safeParse(jsonIn(found?.body.toString() ?? '')).data ?? [];
  return new Map(files.map((file) => [file.file, file]));
}

/** Fetches the passes that landing lacks. */
export async function pullLanding(landing: string, store: ObjectStore) {
  const names = [...(await store.list(LANDING)).keys()].filter((name) => LIST_OF_PASS.test(name));
  const copied: PassFile[][] = [];
  for (const from of names.map((name) => `${dirname(name)}/`)) {
    store.signal.throwIfAborted();
    const folder = join(landing, from.slice(LANDING.length));
    if (!existsSync(join(folder, 'pass.json'))) copied.push(await pullPass(folder, from, store));
  }
  return countCopied(copied);
}

/** Fetches a pass. `pass.json` gets its name last, when all files are on disk, so that half a pass does not count. */
async function pullPass(folder: string, from: string, store: ObjectStore): Promise<PassFile[]> {
  const files = [...(await listIn(store, from)).values()];
  makeFolder(folder);
  const isLast = ({ file }: PassFile): boolean => file === 'pass.json';
  const pages = files.filter((file) => !isLast(file));
  await forEach(store, pages, ({ file, sha256 }) =>
    fetchWhole(store, from + file, join(folder, file), sha256),
  );
  await syncPass(folder);
  for (const { file, sha256 } of files.filter(isLast)) {
    const path = join(folder, file);
    const temporary = temporaryOf(path);
    await fetchWhole(store, from + file, temporary, sha256);
    await syncFiles([temporary]);
    move(temporary, path);
  }
  await syncFolders([folder]);
  return files;
}

const LIST_OF_PASS = new RegExp(`^${LANDING}(?:${streamNames.join('|')})/[\\w-]+/${LIST}$`);
