import { describe, expect, it } from 'vitest';
import { type LakeFacts, type PassFacts, planPasses, planSnapshots } from '../../src/lake/vacuum-plan.js';

const lake = (more: Partial<LakeFacts> = {}): LakeFacts => ({
  current: 'e',
  published: new Set(['a', 'b', 'c', 'e']),
  passes: new Set(),
  lastPassAt: {},
  ...more,
});
const snapshots = (ids: string, unsealed = '') =>
  [...ids].map((id) => ({ id, sealed: !unsealed.includes(id) }));

describe('snapshots that go', () => {
  it('are unfinished, never published, or older than the last that are kept', () => {
    const going = planSnapshots(snapshots('abcdef', 'f'), lake(), 2);
    expect(going.map(({ what, reason }) => `${what}: ${reason}`)).toEqual([
      'a: older than the last 2 published',
      'b: older than the last 2 published',
      'd: never published',
      'f: its run ended before it was finished',
    ]);
  });

  it('never hold the current one, whatever is newer', () => {
    const going = planSnapshots(snapshots('abce'), lake({ current: 'a' }), 1);
    expect(going.map(({ what }) => what)).toEqual(['b', 'c']);
  });

  it('are unfinished ones alone where nothing is current', () => {
    const facts = lake({ current: undefined, published: new Set(['a']) });
    expect(planSnapshots(snapshots('abc', 'c'), facts, 1).map(({ what }) => what)).toEqual(['c']);
  });
});

/** Passes written as `<stream> <kind> <day>[!state]`, each named by its text. */
function passes(...texts: string[]): PassFacts[] {
  return texts.map((text) => {
    const [stream = '', kind = '', rest = ''] = text.split(' ');
    const [day = '', state = 'sealed'] = rest.split('!');
    const facts = { pass_id: text, stream, kind, state, started_at: day, published: false, reason: null };
    return facts as PassFacts;
  });
}

/** Ids of the passes that go, where the lake holds every sealed pass but those of `unheld`. */
function going(all: PassFacts[], keep: number, more: Partial<LakeFacts> = {}): string[] {
  const held = new Set(all.map(({ pass_id }) => pass_id));
  return planPasses(all, lake({ passes: held, ...more }), () => keep).map(({ what }) => what.pass_id);
}

describe('passes that go', () => {
  it('are those before the oldest full pass that is kept, of whatever kind', () => {
    const all = passes(
      'cars full 01',
      'cars lookup 02',
      'cars full 03',
      'cars window 04',
      'cars full 05',
      'cars window 06',
    );
    expect(going(all, 2)).toEqual(['cars full 01', 'cars lookup 02']);
    expect(going(all, 3)).toEqual([]);
    expect(going(all, 9)).toEqual([]);
  });

  it('are of no list younger than the vehicles that are kept', () => {
    const all = passes(
      'cars full 01',
      'cars full 03',
      'statistics full 01',
      'statistics full 02',
      'statistics full 03',
      'archived_lots full 01',
      'archived_lots window 02',
    );
    const keep = (stream: string) => (stream === 'cars' ? 2 : 1);
    const facts = lake({ passes: new Set(all.map(({ pass_id }) => pass_id)) });
    expect(planPasses(all, facts, keep)).toEqual([]);
    expect(going(all, 1)).toEqual(['cars full 01', 'statistics full 01', 'statistics full 02']);
  });

  it('are not what the next run goes on with, and are what no run can use', () => {
    const all = passes(
      'cars full 01!abandoned',
      'cars full 02',
      'cars full 03',
      'cars full 04',
      'cars full 05!open',
      'cars full 06',
    );
    // Of the sealed ones the lake holds only the third; the newest is what a run left that never published.
    const facts = { passes: new Set(['cars full 03']), lastPassAt: { cars: '04' } };
    expect(going(all, 1, facts)).toEqual(['cars full 01!abandoned', 'cars full 02', 'cars full 04']);
  });

  it('are not those of a run that published a snapshot which is no longer current', () => {
    const all = passes('cars full 01', 'cars full 02').map((pass) => ({ ...pass, published: true }));
    expect(going(all, 1, { passes: new Set(['cars full 02']), lastPassAt: { cars: '02' } })).toEqual([]);
  });
});
