import { matchText, readWatched, type Watched, watchedText } from '../../ask/query/watched.js';
import { printable } from '../../base/config/printable.js';
import { command } from '../command.js';

/** Tells what each watched search finds that it did not find the night before, and what left. */
export const watch = command({
  options: { name: { type: 'string', describe: 'a search; all by default' } },
  async run({ name, config, print }, { signal }) {
    const watched = await readWatched(config, { name, signal });
    print(watched, () =>
      watched.length === 0
        ? 'nothing is watched: lotlake explore saves searches'
        : watched.map(textOf).join('\n\n'),
    );
  },
});

const textOf = (watched: Watched): string =>
  [
    watchedText(watched),
    ...watched.entered_rows.map((row) => `  + ${printable(matchText(row))}`),
    ...watched.left_rows.map((row) => `  - ${printable(matchText(row))}`),
  ].join('\n');
