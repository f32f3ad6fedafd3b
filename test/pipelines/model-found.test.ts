import { describe, it } from 'vitest';
import type { Step } from './oracle/story.js';
import { playStory } from './oracle/tell.js';
import type { Happening } from './oracle/world.js';

const NIGHT: Step = {
  ...{ minutes: 1440, happenings: [], run: 'nightly', trouble: { kind: 'none' }, sources: null, who: 0 },
  ...{ key: [1, 3, 12], guard: 1, allowShrink: false, concurrency: 1 },
};
const at = (what: Happening['what'], who = 0, which = 0, value = 0): Happening => ({
  what,
  who,
  which,
  value,
});
const story = (...steps: readonly Partial<Step>[]) =>
  playStory({
    size: 6,
    mix: 0,
    perPage: 2,
    totals: true,
    steps: steps.map((step) => ({ ...NIGHT, ...step })),
  });

/** The smallest forms of the failing random stories. */
describe('the lake is right when', () => {
  it('the feed calls the only lot of a vehicle archived, and no longer mentions it an hour later', () =>
    story({}, { happenings: [at('archived')] }, { minutes: 180, run: 'incremental' }));

  it('vehicles leave, some before their auction, and stay away for days', () =>
    story(
      {},
      { minutes: 720, happenings: [at('leave', 0), at('leave', 2), at('leave', 3)] },
      { minutes: 4 * 1440 },
      { run: 'rebuild' },
    ));

  it('a lot moves to a vehicle whose record breaks the contract', () =>
    story({}, { happenings: [at('move-lot', 0, 0, 1), at('break', 1)] }));

  it('values are unreadable for some nights, while others change and a lot leaves', () =>
    story(
      {},
      { happenings: [at('spoil', 0, 0, 62), at('spoil', 1, 0, 62), at('change', 0, 0, 3)] },
      { run: 'incremental', minutes: 50, happenings: [at('change', 1, 0, 7), at('drop-lot', 0)] },
      { run: 'rebuild' },
      { happenings: [at('spoil', 0, 1), at('spoil', 1, 1), at('appear', 0, 0, 4), at('spoil', 6, 0, 62)] },
      { happenings: [at('leave', 6)] },
    ));

  it('a vehicle that left without lots is looked up', () =>
    story({}, { happenings: [at('drop-lot')] }, { happenings: [at('leave')] }, { run: 'lookup', who: 5 }));

  it('one list has an unreadable value, and the next night brings the vehicle as another list showed it', () =>
    playStory({
      ...{ size: 6, mix: 0, perPage: 2, totals: true, ownLots: true },
      steps: [
        { ...NIGHT, sources: [1, 3, 12], happenings: [at('spoil', 0, 0, 60)] },
        { ...NIGHT, happenings: [0, 1, 2, 3, 4, 5].map((who) => at('drop-lot', who)) },
      ],
    }));

  it('the key loses a source', () => story({}, { key: [3, 12] }, { key: [3, 12] }));

  it('reports of a source go while the key lacks it, and the key gets it back', () =>
    story(
      { happenings: [0, 1, 2, 3, 4, 5].map((who) => at('report', who, 1, 3)) },
      { key: [1, 3], happenings: [0, 1, 2, 3, 4, 5].map((who) => at('report', who, 1, 40)) },
      { key: [1, 3, 12] },
    ));

  it('the key loses a source while a pass is interrupted', () =>
    playStory({
      ...{ size: 3, mix: 19, perPage: 2, totals: false },
      steps: [
        NIGHT,
        { ...NIGHT, trouble: { kind: 'cut', path: '/cars', after: 1 } },
        { ...NIGHT, minutes: 50, key: [1, 3] },
      ],
    }));

  it.each([
    { size: 6, mix: 0, source: 3, gets: true },
    { size: 3, mix: 1, source: 12, gets: false },
  ])('the key gets or loses a source between pages (%o)', ({ size, mix, source, gets }) =>
    playStory({
      ...{ size, mix, perPage: 2, totals: false },
      steps: [
        NIGHT,
        { ...NIGHT, trouble: { kind: 'turn', source, after: 1, gets } },
        { ...NIGHT, run: 'rebuild' },
      ],
    }),
  );

  it('the key loses a source whose list has already been walked', () =>
    playStory({
      ...{ size: 6, mix: 0, perPage: 2, totals: false },
      steps: [
        NIGHT,
        { ...NIGHT, sources: [12, 1], trouble: { kind: 'turn', source: 12, after: 2, gets: false } },
      ],
    }));

  it('a vehicle comes without its reports, later in the same pass with them, and the next night without them again', () =>
    playStory({
      ...{ size: 6, mix: 1, perPage: 2, totals: false },
      steps: [
        NIGHT,
        { ...NIGHT, trouble: { kind: 'turn', source: 12, after: 1, gets: true } },
        { ...NIGHT, key: [1, 3] },
        { ...NIGHT, run: 'rebuild' },
      ],
    }));

  it('a lot that the key no longer shows is dropped', () =>
    story({}, { key: [3, 12] }, { happenings: [at('drop-lot', 3, 0)] }));

  it('a full pass over one source lies between a change of another and the next window', () =>
    story(
      {},
      { minutes: 300, happenings: [at('change', 0), at('change', 1), at('change', 2)], sources: [3] },
      { minutes: 180, run: 'incremental' },
    ));

  it('a vehicle whose lot was dropped is in the feed, and a window does not show it', () =>
    story({}, { happenings: [at('drop-lot')] }, { minutes: 180, run: 'incremental' }));

  it('a vehicle that comes back moves another to a page that was already read', () =>
    story(
      {},
      { happenings: [at('leave')] },
      { trouble: { kind: 'drift', concurrency: 1, moves: [{ page: 1, happening: at('back') }] } },
    ));

  it('the archive feed names a vehicle whose id is at an open border of a window', () =>
    playStory({
      ...{ size: 4, mix: 0, perPage: 2, totals: false },
      steps: [
        NIGHT,
        {
          ...NIGHT,
          happenings: [at('change', 0), at('change', 1), at('change', 3), at('leave-named', 2)],
          run: 'incremental',
        },
      ],
    }));

  it('a vehicle that the key did not show the night before leaves', () =>
    story({}, { key: [3, 12] }, { happenings: [at('leave', 0)] }));

  it('lists of sources show vehicles only with the lots of that source', () =>
    playStory({
      ...{ size: 12, mix: 4, perPage: 3, totals: true, ownLots: true },
      steps: [
        { ...NIGHT, sources: [1, 3, 12] },
        {
          ...NIGHT,
          sources: [1, 3, 12],
          happenings: [at('change', 4), at('add-lot', 5, 0, 2), at('drop-lot', 3)],
        },
        { ...NIGHT, sources: [1, 3, 12] },
        { ...NIGHT, run: 'rebuild' },
      ],
    }));

  it.each([0, 5])('two vehicles list a lot, and then one of them changes (%i)', (who) =>
    story(
      {},
      { happenings: [at('share-lot', 0, 0, 5)] },
      { happenings: [at('change', who, 0, 3)] },
      { run: 'rebuild' },
    ),
  );
});
