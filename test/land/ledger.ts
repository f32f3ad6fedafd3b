import type { LandedPage } from '../../src/core/lake/passes/landed-page.js';

/** A line of a ledger with the given members. */
export function landedPage(facts: Partial<LandedPage> = {}): LandedPage {
  const page = facts.page ?? 1;
  return {
    list: '',
    page,
    file: `page-${String(page).padStart(6, '0')}.ndjson.gz`,
    seq: page - 1,
    records: 0,
    bytes: 0,
    fileBytes: 0,
    sha256: '',
    largestRecord: 0,
    firstId: null,
    lastId: null,
    digest: 'digest',
    fits: true,
    irregular: false,
    drift: [],
    misfits: [],
    requestedAt: '2026-11-20T00:00:00.000Z',
    receivedAt: '2026-11-20T00:00:01.000Z',
    announced: null,
    total: null,
    lastPage: null,
    perPage: null,
    next: null,
    scrollId: null,
    ...facts,
  };
}
