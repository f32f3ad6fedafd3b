import { describe, expect, it } from 'vitest';
import { type LakeFacts, planPasses, planSnapshots } from '../../src/beyond/keep/vacuum-plan.js';
import type { PassRecord } from '../../src/core/lake/passes/pass.js';

const lake = (more: Partial<LakeFacts> = {}): LakeFacts => ({
  current: 'e',
  published: new Set(['a', 'b', 'c', 'e']),
  isAllKnown: true,
  passes: new Set(),
  ...more,
});
/** Snapshots of one day, except those in `days`. Unsealed and unreadable snapshots have no manifest. */
const snapshots = (ids: string, unsealed = '', unreadable = '', days: Record<string, string> = {}) =>
  [...ids].map((id) => ({
    id,
    isSealed: !unsealed.includes(id),
    manifest: (unsealed + unreadable).includes(id)
      ? undefined
      : { created_at: `2026-11-${days[id] ?? '20'}T10:00:00.000Z` },
  }));
const last = (count: number, days = 0) => ({ keepSnapshots: count, keepDays: days });

describe('snapshots that a vacuum removes', () => {
  it('are unfinished, never published, or older than the last that are kept', () => {
    const going = planSnapshots(snapshots('abcdef', 'f'), lake(), last(2));
    expect(going.map(({ what, reason }) => `${what.id}: ${reason}`)).toEqual([
      'a: older than the last 2 published',
      'b: older than the last 2 published',
      'd: never published',
      'f: its run ended before it was finished',
    ]);
  });

  it('never include the current one, even if others are newer', () => {
    const going = planSnapshots(snapshots('abce'), lake({ current: 'a' }), last(1));
    expect(going.map(({ what }) => what.id)).toEqual(['b', 'c']);
  });

  it('are only unfinished ones if none is current', () => {
    const facts = lake({ current: undefined, published: new Set(['a']) });
    expect(planSnapshots(snapshots('abc', 'c'), facts, last(1)).map(({ what }) => what.id)).toEqual(['c']);
  });
});

describe('snapshots that a vacuum keeps', () => {
  const all = new Set([...'abcdefgh']);
  const ids = (...given: Parameters<typeof planSnapshots>) =>
    planSnapshots(...given).map(({ what }) => what.id);

  it('include the last one of each recent day, so that hourly runs do not displace last night', () => {
    const days = { a: '16', b: '18', c: '18', d: '19', e: '19', f: '20', g: '20', h: '20' };
    const facts = lake({ current: 'h', published: all });
    const given = snapshots('abcdefgh', '', '', days);
    expect(ids(given, facts, last(2, 0))).toEqual([...'abcdef']);
    expect(ids(given, facts, last(2, 1))).toEqual([...'abcdef']);
    expect(ids(given, facts, last(2, 3))).toEqual([...'abdf']);
    expect(ids(given, facts, last(1, 4))).toEqual([...'abdfg']);
    expect(ids(given, facts, last(1, 5))).toEqual([...'bdfg']);
  });

  it('include all that may have been published, if the table of runs cannot be read', () => {
    const facts = lake({ published: new Set(['a', 'b', 'e']), isAllKnown: false });
    expect(ids(snapshots('abcdef', 'f'), facts, last(1))).toEqual(['a', 'b']);
  });

  it('include those whose manifest cannot be read, which do not count towards the number to keep', () => {
    const facts = lake({ current: 'e', published: new Set([...'abce']) });
    expect(ids(snapshots('abcde', '', 'cd'), facts, last(2))).toEqual(['a']);
    expect(ids(snapshots('abce', 'a'), facts, last(1))).toEqual(['b', 'c']);
  });
});

/**
 * Passes written as `<stream> <kind> <day>[!word] [of <sources>]`, each named by its text; the word is a state,
 * `unproven` or `empty`.
 */
function passes(...texts: string[]): PassRecord[] {
  return texts.map((text) => {
    const [stream = '', kind = '', rest = '', , of] = text.split(' ');
    const [day = '', word = 'sealed'] = rest.split('!');
    const sources = of?.split(',').map(Number) ?? null;
    const facts = {
      ...{ pass_id: text, stream, kind, sources, published: false, reason: null },
      ...{ started_at: `2026-11-${day}T02:00:00.000Z`, sequence: Number(day) },
      records: word === 'empty' ? 0 : 10,
      complete: word !== 'unproven' && kind !== 'lookup',
      state: word === 'open' || word === 'abandoned' ? word : 'sealed',
    };
    return facts as PassRecord;
  });
}

/** Ids of the passes that vacuum removes. The lake holds every sealed pass except those in `unheld`. */
function going(all: PassRecord[], keep: number, more: Partial<LakeFacts> = {}): string[] {
  const held = new Set(all.map(({ pass_id }) => pass_id));
  return planPasses(all, lake({ passes: held, ...more }), keep).removals.map(({ what }) => what.pass_id);
}

describe('passes that a vacuum removes', () => {
  it('are those before the oldest kept full pass, of any kind', () => {
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

  it('include none that is younger than the kept vehicles, in any stream', () => {
    const all = passes(
      'cars full 01',
      'cars full 03',
      'statistics full 01',
      'statistics full 02',
      'statistics full 03',
      'archived_lots full 01',
      'archived_lots window 02',
    );
    const keep = { cars: 2, statistics: 1, archived_lots: 1 };
    const facts = lake({ passes: new Set(all.map(({ pass_id }) => pass_id)) });
    expect(planPasses(all, facts, keep).removals).toEqual([]);
    expect(going(all, 1)).toEqual([
      'cars full 01',
      'statistics full 01',
      'statistics full 02',
      'archived_lots full 01',
    ]);
  });

  it('do not include what the next run resumes, and include what no run can use', () => {
    const all = passes(
      'cars full 01!abandoned',
      'cars full 02',
      'cars full 03',
      'cars full 04',
      'cars full 05!open',
      'cars full 06',
    );
    // The lake holds only the third of the sealed passes. The newest pass is left by a run that never published.
    const facts = { passes: new Set(['cars full 03']) };
    expect(going(all, 1, facts)).toEqual(['cars full 01!abandoned', 'cars full 02']);
  });

  it('do not include those of a published snapshot that is no longer current', () => {
    const all = passes('cars full 01', 'cars full 02').map((pass) => ({ ...pass, published: true }));
    expect(going(all, 1, { passes: new Set(['cars full 02']) })).toEqual([]);
  });

  it('are counted only by full passes that proved something', () => {
    const all = passes(
      'cars full 01',
      'cars window 02',
      'cars full 03',
      'cars full 04!unproven',
      'cars full 05!unproven',
      'cars full 06!unproven',
    );
    expect(going(all, 1)).toEqual(['cars full 01', 'cars window 02']);
    expect(going(all, 2)).toEqual([]);
    expect(going(passes('cars full 01', 'cars full 02!unproven'), 1)).toEqual([]);
  });

  it('go by whole groups, so that no delta outlives its keyframe', () => {
    const on = (keyframe: string, ...texts: string[]): PassRecord[] =>
      passes(...texts).map((pass) => ({ ...pass, form: 'delta', keyframe }));
    const all = [
      ...passes('cars full 01'),
      ...on('cars full 01', 'cars full 02'),
      ...passes('cars full 03', 'cars window 04'),
      ...on('cars full 03', 'cars full 05', 'cars full 06'),
    ];
    const archive = passes('archived_lots full 01', 'archived_lots window 03', 'archived_lots window 05');
    const group = ['cars full 01', 'cars full 02'];
    expect(going(all, 1)).toEqual(group);
    expect(going([...all, ...archive], 1)).toEqual([...group, 'archived_lots full 01']);
    const held = lake({ passes: new Set(all.map(({ pass_id }) => pass_id)) });
    const names = (keep: number): string[] => planPasses(all, held, keep).staying.map((pass) => pass.pass_id);
    expect(names(1)).toEqual(['cars full 03', 'cars window 04', 'cars full 05']);
    expect(names(3)).toEqual([]);
    expect(going(all, 4)).toEqual([]);
    expect(names(4)).toEqual(['cars full 01']);
    // A delta without a keyframe cannot be replayed, so that it does not count as one of the last.
    expect(
      going([...passes('cars full 01', 'cars full 02'), ...on('gone', 'cars full 03', 'cars full 04')], 1),
    ).toEqual(['cars full 01']);
    // The next run may go on with an open delta.
    const open = [...passes('cars full 01', 'cars full 02'), ...on('cars full 01', 'cars full 03!open')];
    expect(going(open, 1)).toEqual([]);
  });

  it('are counted by source if a pass covered only some sources', () => {
    const all = passes(
      'cars full 01 of 1,3',
      'cars full 02 of 3',
      'cars full 03 of 1',
      'cars full 04!unproven of 1',
      'cars full 05!unproven of 1',
    );
    expect(going(all, 1)).toEqual(['cars full 01 of 1,3']);
    expect(going(all, 2)).toEqual([]);
    const later = passes('cars full 01', 'cars full 02 of 1,3', 'cars full 03', 'cars full 04 of 1,3');
    expect(going(later, 1)).toEqual(['cars full 01', 'cars full 02 of 1,3']);
  });

  it('include those of a source that no pass has proved for a month', () => {
    const old = passes('cars full 01 of 12').map((pass) => ({
      ...{ ...pass, started_at: '2026-09-01T00:00:00Z', sequence: 0 },
    }));
    const all = [...old, ...passes('cars full 01 of 1', 'cars full 02 of 1')];
    expect(going(all, 1)).toEqual(['cars full 01 of 12', 'cars full 01 of 1']);
  });

  it('go by the order of the lake, whatever clocks said', () => {
    const clocks = ['2026-11-05', '2099-01-01', '1999-01-01', '2026-11-05'];
    const all = passes('cars full 01', 'cars full 02', 'cars full 03', 'cars full 04').map((pass, i) => ({
      ...pass,
      started_at: `${clocks[i]}T02:00:00.000Z`,
    }));
    expect(going(all, 2)).toEqual(['cars full 01', 'cars full 02']);
    expect(going(all, 3)).toEqual(['cars full 01']);
    const days = snapshots('abcd').map((each, i) => ({
      ...each,
      manifest: { created_at: `${clocks[i]}T10:00:00.000Z` },
    }));
    const facts = lake({ current: 'd', published: new Set([...'abcd']) });
    const gone = (keep: Parameters<typeof last>): string[] =>
      planSnapshots(days, facts, last(...keep)).map(({ what }) => what.id);
    expect(gone([2, 0])).toEqual(['a', 'b']);
    // The snapshot of 2099 counts as one of the last days.
    expect(gone([1, 3])).toEqual(['a', 'c']);
  });

  it('include those without a record, which a rebuild does not need', () => {
    const all = passes('cars full 01', 'cars window 02!empty', 'duplicates full 02!empty', 'cars window 03');
    expect(going(all, 3)).toEqual(['cars window 02!empty', 'duplicates full 02!empty']);
  });

  it('include windows over the archive older than the kept vehicles, even without a later full pass', () => {
    const all = passes(
      'cars full 01',
      'archived_lots full 01',
      'archived_lots window 02',
      'cars full 03',
      'archived_lots window 04',
      'archived_lots window 05',
      'cars full 06',
      'archived_lots window 07',
    );
    expect(going(all, 2)).toEqual(['cars full 01', 'archived_lots full 01', 'archived_lots window 02']);
    expect(going(all, 4)).toEqual([]);
  });

  it('leave as many passes after sixty nights with hourly windows as after six', () => {
    const start = Date.parse('2026-09-01T02:00:00Z');
    let landing: PassRecord[] = [];
    const left: number[] = [];
    const land = (stream: string, kind: string, hour: number, records = 10): void => {
      const started_at = new Date(start + hour * 3_600_000).toISOString();
      const [pass] = passes(`${stream} ${kind} 01`);
      if (pass !== undefined)
        landing.push({
          ...pass,
          pass_id: `${stream} ${started_at}`,
          started_at,
          sequence: 1 + hour,
          records,
        });
    };
    for (let night = 0; night < 60; night++) {
      land('cars', 'full', 24 * night);
      land('archived_lots', night === 0 ? 'full' : 'window', 24 * night + 0.5);
      land('statistics', 'full', 24 * night + 0.6);
      land('duplicates', 'full', 24 * night + 0.7, 0);
      for (let hour = 1; hour < 24; hour++) {
        land('cars', 'window', 24 * night + hour);
        land('archived_lots', 'window', 24 * night + hour + 0.1);
      }
      const gone = new Set(going(landing, 3));
      landing = landing.filter(({ pass_id }) => !gone.has(pass_id));
      left.push(landing.length);
    }
    expect(left.slice(6).every((count) => count === left[5])).toBe(true);
    expect(left[5]).toBe(3 * (2 * 24 + 1));
  });
});
