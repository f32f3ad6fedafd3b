import type { LandedPage } from '../lake/passes/landed-page.js';
import type { DriftReport } from '../lake/passes/loaded-pass.js';
import type { Pass } from '../lake/passes/pass.js';
import { isLoadable } from '../lake/rows/types.js';
import { kindNames, MOST_DRIFT } from '../service/scan/shape.js';
import { streams } from '../service/streams.js';

/** The drift that the pages of one pass bring. */
export class Drift {
  readonly #found = new Map<string, DriftReport>();
  #isFull = false;

  constructor(
    private readonly options: {
      readonly pass: Pick<Pass, 'record'>;
      readonly warn: (message: string) => void;
    },
  ) {}

  /** Notes the unknown members of a page. Warns once if there are more than {@link MOST_DRIFT}. */
  learn(page: LandedPage): void {
    const { pass, warn } = this.options;
    const stream = streams[pass.record.stream];
    for (const { path, kinds, firstRecord } of page.drift) {
      const known = this.#found.get(path);
      if (known === undefined && this.#found.size >= MOST_DRIFT) {
        const message = `${stream.path} brings more than ${MOST_DRIFT} members that lotlake does not know`;
        if (!this.#isFull) warn(`${message}; the others are kept in landing alone`);
        this.#isFull = true;
        continue;
      }
      this.#found.set(path, {
        stream: stream.name,
        path,
        kinds: [...new Set([...(known?.kinds ?? []), ...kindNames(kinds)])],
        pass_id: pass.record.pass_id,
        page: known?.page ?? page.page,
        position: known?.position ?? firstRecord,
        kept: known?.kept ?? isLoadable(path, stream.contract, this.paths()),
      });
    }
  }

  /** Paths that are kept in `extra`, sorted, so that `extra` does not depend on the order of pages. */
  paths(): string[] {
    return this.reports()
      .filter(({ kept }) => kept)
      .map(({ path }) => path)
      .sort();
  }

  reports(): readonly DriftReport[] {
    return [...this.#found.values()];
  }
}
