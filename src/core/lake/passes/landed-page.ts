import type { Answer, UnservedRecord } from '../../service/client.js';
import type { OversizedRecord, PageScan } from '../../service/scan/scan-page.js';
import type { Fingerprints, PrintsPlace } from './fingerprints.js';

/** Facts about a received page that paging needs. */
export interface PageFacts {
  readonly page: number;
  readonly records: number;
  readonly total: number | null;
  readonly lastPage: number | null;
  readonly next: string | null;
  /** False if the page says neither how many records there are nor whether another page follows. */
  readonly tellsEnd?: boolean | undefined;
  /** Continues the scroll form of the feed; null if the list is not a scroll, or at its end. */
  readonly scrollId?: string | null;
  /** Number of the page as the page states it. */
  readonly current?: number | null | undefined;
  /** Place of its first record in the whole list, from 1. */
  readonly from?: number | null | undefined;
  /** Number of records by its `from` and `to`. */
  readonly announced?: number | null | undefined;
  /** Records that repeat the id of an earlier record of the page. */
  readonly repeats?: number | undefined;
  readonly perPage?: number | null | undefined;
  /** Ids of its records in their order, NaN if one cannot be read. Only pages that this process received have them. */
  readonly ids?: readonly number[] | undefined;
  readonly digest: string;
  readonly firstId: number | null;
  readonly lastId: number | null;
  /** Ids around records with unreadable ids, null at the beginning or end of the page; undefined if all are readable. */
  readonly unnamed?: readonly [number | null, number | null] | undefined;
  /** Records that the service cannot serve. A text stands in the place of each, so that they count as unnamed. */
  readonly unserved?: Answer['unserved'];
  readonly requestedAt: string;
  readonly receivedAt: string;
}

/** A record with its position in the answer; and its line in the file, from 0, if that differs. */
export type Placed<T extends { readonly position: number }> = T & { readonly line?: number | undefined };

/** Records and bytes of the file of a page. */
export const heldBy = (page: LandedPage): { readonly records: number; readonly bytes: number } =>
  page.held ?? page;

/** A landed page. `ids` and `fresh` are not in the ledger of its pass, and a list that ascends has no `ids`. */
export interface LandedPage
  extends PageFacts,
    Pick<PageScan, 'bytes' | 'largestRecord' | 'irregular' | 'drift' | 'misfits'> {
  /** List of its stream that the page belongs to, such as the state of its cities; empty if the stream has one list. */
  readonly list: string;
  /** File name below the pass folder. */
  readonly file: string;
  /** Order of receipt in the pass, from 0. */
  readonly seq: number;
  readonly fileBytes: number;
  /** SHA-256 of the file in hex. */
  readonly sha256: string;
  /** Records past the size limit. The file holds only the beginning of each. */
  readonly oversized?: readonly Placed<OversizedRecord>[] | undefined;
  /** Records that the service could not serve. The file holds a line in the place of each. */
  readonly unserved?: readonly Placed<UnservedRecord>[] | undefined;
  /**
   * What the file holds, if it leaves out records that the lake had and the group of the delta has landed. All other facts
   * are those of the whole answer.
   */
  readonly held?: { readonly records: number; readonly bytes: number } | undefined;
  /** Whether every record fits the contract, so that zod need not check them. */
  readonly fits: boolean;
  /** Place of the fingerprints of its records, in pages of vehicles. */
  readonly prints?: PrintsPlace | undefined;
  /** What a page of vehicles brings that the lake does not have; undefined if its records are not compared. */
  readonly fresh?: FreshRecords | undefined;
}

/** What a page of vehicles brings that the lake does not have. */
export interface FreshRecords {
  /** Fingerprints of the records that are to be loaded. */
  readonly prints: Fingerprints;
  /** Ids of the vehicles whose records the lake has already. */
  readonly unchanged: readonly number[];
  /** The new records alone, as uncompressed lines; without it, all that the file of the page holds is loaded. */
  readonly file?: FreshFile;
}

/** A file of the run with the new records of a page. */
interface FreshFile {
  readonly path: string;
  readonly records: number;
  /** Size of the file. */
  readonly bytes: number;
  /** The line of each record in the landed file, from 0. */
  readonly lines: readonly number[];
}

/** Microseconds. */
let last = 0;

/**
 * The present instant as ISO 8601 with microseconds, later than every one before. The microseconds count the calls
 * within a millisecond, so that requests and answers can be put in order.
 */
export function instant(): string {
  last = Math.max(Date.now() * 1000, last + 1);
  const milliseconds = new Date(Math.floor(last / 1000)).toISOString().slice(0, -1);
  return `${milliseconds}${String(last % 1000).padStart(3, '0')}Z`;
}
