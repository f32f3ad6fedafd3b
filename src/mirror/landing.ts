import { existsSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { killPoint } from '../config/kill-point.js';
import { checksumOf, jsonIn } from '../land/files.js';
import { findPasses, isWhole, type Pass } from '../land/pass.js';
import { streamNames } from '../service/streams.js';
import { damaged, LANDING } from './layout.js';
import { forEach, type ObjectStore } from './store.js';

/** Object of a pass that is written last. Without it a pass in the mirror is not whole. */
const LIST = 'files.json';

const listSchema = z.array(
  z.object({
    file: z.string().regex(/^[\w.-]+$/),
    bytes: z.int(),
    sha256: z.string(),
  }),
);

type PassFile = z.output<typeof listSchema>[number];

/** What was sent or fetched of landing. */
export interface LandingCopied {
  readonly passes: number;
  readonly files: number;
  readonly bytes: number;
}

/**
 * Sends the sealed passes of landing, file by file below `landing/<stream>/<pass>/`. A file whose size and checksum the
 * mirror has is not sent again.
 */
export async function pushLanding(
  landing: string,
  store: ObjectStore,
  concurrency: number,
  signal: AbortSignal,
): Promise<LandingCopied> {
  const passes = streamNames.flatMap((stream) => findPasses(landing, stream).passes);
  const sealed = passes.filter((pass) => pass.manifest.state === 'sealed' && isWhole(pass));
  const done = { passes: 0, files: 0, bytes: 0 };
  for (const pass of sealed) {
    signal.throwIfAborted();
    const folder = `${LANDING}${pass.manifest.stream}/${pass.manifest.pass_id}/`;
    const files = await filesOfPass(pass);
    const there = await listIn(store, folder);
    const missing = files.filter(({ file, sha256 }) => there.get(file)?.sha256 !== sha256);
    if (missing.length === 0) continue;
    await forEach(missing, concurrency, async ({ file, ...content }) => {
      await store.sendFile(folder + file, join(pass.folder, file), content);
      killPoint('mirror.page-sent');
    });
    await store.send(folder + LIST, JSON.stringify(files));
    done.passes++;
    done.files += missing.length;
    done.bytes += missing.reduce((sum, { bytes }) => sum + bytes, 0);
  }
  return done;
}

/** Files of a pass with their checksums, which the ledger knows of its pages. */
async function filesOfPass({ folder, pages }: Pass): Promise<PassFile[]> {
  const known = new Map(pages.map(({ file, sha256 }) => [file, sha256]));
  const found: PassFile[] = [];
  for (const file of readdirSync(folder).filter((name) => !name.endsWith('.tmp'))) {
    const path = join(folder, file);
    found.push({ file, bytes: statSync(path).size, sha256: known.get(file) ?? (await checksumOf(path)) });
  }
  return found;
}

/** Files of a pass in the mirror by name; none where it is not whole there. */
async function listIn(store: ObjectStore, folder: string): Promise<Map<string, PassFile>> {
  const found = await store.read(folder + LIST);
  const files = listSchema.safeParse(jsonIn(found?.body.toString() ?? '')).data ?? [];
  return new Map(files.map((file) => [file.file, file]));
}

/** Fetches the passes that landing lacks; `pass.json` comes last, so that half a pass is none. */
export async function pullLanding(
  landing: string,
  store: ObjectStore,
  concurrency: number,
  signal: AbortSignal,
): Promise<LandingCopied> {
  const lists = [...(await store.list(LANDING)).keys()].filter((name) => LIST_OF_PASS.test(name));
  const done = { passes: 0, files: 0, bytes: 0 };
  for (const list of lists) {
    signal.throwIfAborted();
    const below = dirname(list).slice(LANDING.length);
    const folder = join(landing, below);
    if (existsSync(join(folder, 'pass.json'))) continue;
    const files = [...(await listIn(store, `${dirname(list)}/`)).values()];
    mkdirSync(folder, { recursive: true });
    const fetch = async ({ file, bytes, sha256 }: PassFile): Promise<void> => {
      const name = `${dirname(list)}/${file}`;
      const found = await store.fetch(name, join(folder, file));
      if (found?.sha256 !== sha256)
        throw damaged(store, name, found === undefined ? 'is missing' : 'is another file');
      done.files++;
      done.bytes += bytes;
    };
    const isLast = ({ file }: PassFile): boolean => file === 'pass.json';
    await forEach(
      files.filter((file) => !isLast(file)),
      concurrency,
      fetch,
    );
    await forEach(files.filter(isLast), 1, fetch);
    done.passes++;
  }
  return done;
}

const LIST_OF_PASS = new RegExp(`^${LANDING}(?:${streamNames.join('|')})/[\\w-]+/${LIST}$`);
