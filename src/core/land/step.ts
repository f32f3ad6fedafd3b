import { join } from 'node:path';
import { killPoint } from '../../base/config/kill-point.js';
import { keepPrints } from '../lake/passes/fingerprints.js';
import { instant, type LandedPage, type PageFacts, type Placed } from '../lake/passes/landed-page.js';
import { type Pass, recordPage } from '../lake/passes/pass.js';
import type { Answer } from '../service/client.js';
import { streams } from '../service/streams.js';
import { type Comparison, FreshLines } from './fresh-records.js';
import { factsOf, landPage, type PageRecords, readPage } from './page.js';

interface SinkOptions {
  /** Gets each page once it is landed. */
  readonly tell?: (page: LandedPage) => void;
  /** Compares the records of vehicles, and writes those that the lake does not have to a folder of the run as well. */
  readonly fresh?: (Comparison & { readonly folder: string }) | undefined;
  /** Bytes of the largest record that is kept whole; by default 4 MiB. */
  readonly mostRecordBytes?: number | undefined;
}

/**
 * Makes the sinks for the lists of a pass, which number its pages in the order of receipt. A page that is read again
 * becomes another file; the last received counts.
 */
export function sinksOf(pass: Pass, options: SinkOptions = {}): (list: string) => PageSink<LandedPage> {
  let seq = pass.pages.reduce((most, page) => Math.max(most, page.seq + 1), 0);
  return (list) => createSink(pass, list, () => seq++, options);
}

function createSink(
  pass: Pass,
  list: string,
  next: () => number,
  { fresh, mostRecordBytes, tell }: SinkOptions,
): PageSink<LandedPage> {
  const { contract, ascending } = streams[pass.record.stream];
  const landed = pass.pages.filter((page) => page.list === list);
  const taken = new Set(landed.map(({ file }) => file));
  const prefix = list === '' ? '' : `${list.replaceAll(/[^a-zA-Z0-9]+/g, '-')}.`;
  /** A name that no page has. An earlier version may be lost while a later one is not. */
  const nameOf = (number: number, version = 1): string => {
    const name = `${prefix}page-${String(number).padStart(6, '0')}${version === 1 ? '' : `.${version}`}.ndjson.gz`;
    return taken.has(name) ? nameOf(number, version + 1) : name;
  };
  return {
    landed,
    read: (answer) => readPage(answer.body, { url: answer.url, contract, mostRecordBytes }),
    async land(number: number, answer: Answer, requestedAt: string): Promise<LandedPage> {
      const file = nameOf(number);
      const seen =
        fresh === undefined
          ? undefined
          : new FreshLines(join(fresh.folder, file.replace(/\.gz$/, '')), fresh);
      const target = { path: join(pass.folder, file), url: answer.url, contract, mostRecordBytes };
      const landing = landPage(answer.body, target, seen);
      const { scan, fileBytes, sha256 } = await landing.catch((error) => {
        seen?.discard();
        throw error;
      });
      taken.add(file);
      const placed = <T extends { readonly position: number }>(records: readonly T[]): Placed<T>[] =>
        seen?.held === undefined
          ? [...records]
          : records.map((record) => ({ ...record, line: seen.lineOf(record.position) }));
      const page: LandedPage = {
        list,
        page: number,
        file,
        seq: next(),
        fileBytes,
        sha256,
        ...factsOf(scan),
        ...(scan.oversized.length === 0 ? {} : { oversized: placed(scan.oversized) }),
        ...(answer.unserved === undefined ? {} : { unserved: placed(answer.unserved) }),
        held: seen?.held,
        prints: seen === undefined ? undefined : keepPrints(pass.folder, seen.leftOut, seen.inFile),
        requestedAt,
        receivedAt: instant(),
      };
      recordPage(pass.folder, page);
      killPoint('land.page-recorded');
      tell?.(page);
      return {
        ...page,
        // For an ascending list, the first and last id show whether a page has new records.
        ...(ascending ? {} : { ids: scan.ids }),
        fresh: seen?.end(),
      };
    },
  };
}

/** Where the pages of a list go. */
export interface PageSink<P extends PageFacts> {
  /** Pages that an earlier start of the same pass has landed. */
  readonly landed: readonly P[];
  /** Reads the whole answer and keeps it as the page of this number. */
  land(page: number, answer: Answer, requestedAt: string): Promise<P>;
  /** Reads the whole answer and keeps nothing of it. */
  readonly read: (answer: Answer) => Promise<PageRecords>;
}

export type { Comparison } from './fresh-records.js';
export { landedPages, progressOf } from './landed-pages.js';
export type { PageRecords } from './page.js';
