import { describe, expect, it } from 'vitest';
import { brokenDeltas, chooseForm, lackingOf } from '../../src/core/lake/passes/group.js';
import type { Pass, PassRecord } from '../../src/core/lake/passes/pass.js';

const at = (day: string): string => `2026-11-${day}T02:00:00.000Z`;

/** Published passes written as `<day> <form or kind>`, named by their day. */
const passes = (...texts: string[]): Pass[] =>
  texts.map((text) => {
    const [day = '', form = ''] = text.split(' ');
    const isFull = form === 'keyframe' || form === 'delta';
    return passOf({
      ...{ pass_id: day, started_at: at(day), sequence: Number(day), kind: isFull ? 'full' : 'window' },
      form: isFull ? form : null,
    });
  });

const passOf = (facts: Partial<PassRecord>): Pass => {
  const record = {
    state: 'sealed',
    published: true,
    pages: 1,
    records: 10,
    damaged_at: null,
    group: [],
    ...facts,
  };
  return { folder: '', record: record as PassRecord, pages: [{ records: 10 }] as unknown as Pass['pages'] };
};
const changed = (pass: Pass, facts: Partial<PassRecord>): Pass => ({
  ...pass,
  record: { ...pass.record, ...facts },
});

const known = (given: readonly Pass[]) => given.map(({ record }) => record);
const choose = (given: readonly Pass[], more: Partial<Parameters<typeof chooseForm>[0]> = {}) => {
  const facts = { isComparable: true, keyframeDays: 7, now: new Date(at('05')) };
  const { form, group } = chooseForm({ passes: given, known: known(given), ...facts, ...more });
  return form === 'delta' ? `delta of ${group.join(' ')}` : form;
};

describe('a full pass', () => {
  const week = passes('01 keyframe', '02 delta', '03 window', '04 delta');

  it('is a delta of the last keyframe and all passes since', () => {
    expect(choose(week)).toBe('delta of 01 02 03 04');
    expect(choose([...week.slice(0, 2), ...passes('03 keyframe', '04 delta')])).toBe('delta of 03 04');
  });

  it('is a keyframe if there is none yet, if it is to be one, or if the last one is old', () => {
    expect(choose([])).toBe('keyframe');
    expect(choose(passes('03 window'))).toBe('keyframe');
    expect(choose(week, { keyframeDays: 0 })).toBe('keyframe');
    expect(choose(week, { keyframeDays: 4 })).toBe('keyframe');
    // By days, so that a night that begins a minute early or late changes nothing.
    expect(choose(week, { keyframeDays: 5, now: new Date(Date.parse(at('05')) + 60_000) })).toBe(
      'delta of 01 02 03 04',
    );
    expect(choose(week, { isComparable: false })).toBe('keyframe');
  });

  it('is a keyframe if a pass since the last one is not whole, is damaged, or if its own day is to come', () => {
    const [first, ...others] = week;
    if (first === undefined) return;
    for (const facts of [{ pages: 2 }, { damaged_at: at('04') }])
      expect(choose([changed(first, facts), ...others])).toBe('keyframe');
    expect(choose(week, { now: new Date('2026-10-31T02:00:00.000Z') })).toBe('keyframe');
    // Later passes have their place, whatever clocks said.
    expect(choose(week, { now: new Date(at('03')) })).toBe('delta of 01 02 03 04');
  });

  it('is a keyframe if the base was made from other passes than landing holds since the last one', () => {
    expect(choose(week, { known: known(week.slice(0, 3)) })).toBe('keyframe');
    expect(choose([...week.slice(0, 2), ...week.slice(3)], { known: known(week) })).toBe('keyframe');
    // Passes before the keyframe, and those without records, do not matter.
    const older = passes('01 window').map((pass) => changed(pass, { pass_id: 'old', sequence: 0 }));
    expect(choose(week, { known: known([...older, ...week]) })).toBe('delta of 01 02 03 04');
    const empty = passes('04 window').map((pass) => changed(pass, { pass_id: 'empty', records: 0 }));
    expect(choose([...week, ...empty], { known: known(week) })).toBe('delta of 01 02 03 04');
  });

  it('does not build on what was not published', () => {
    const [open] = passes('04 delta');
    if (open !== undefined)
      expect(
        choose([...week.slice(0, 3), changed(open, { published: false })], {
          known: known(week.slice(0, 3)),
        }),
      ).toBe('delta of 01 02 03');
  });
});

describe('the deltas that cannot be replayed', () => {
  const [k1, d2, w3, d4, k5, d6] = passes(
    '01 keyframe',
    '02 delta',
    '03 window',
    '04 delta',
    '05 keyframe',
    '06 delta',
  );
  const on = (pass: Pass | undefined, ...group: string[]): Pass => changed(pass ?? passOf({}), { group });
  const all = [on(k1), on(d2, '01'), on(w3), on(d4, '01', '02', '03'), on(k5), on(d6, '05')];
  const without = (...ids: string[]) =>
    brokenDeltas(all.filter(({ record }) => !ids.includes(record.pass_id))).map(
      ({ pass, lacking }) => `${pass.record.pass_id} for ${lacking.join(' ')}`,
    );

  it('are those whose keyframe, or a pass in between, is missing', () => {
    expect(without()).toEqual([]);
    expect(without('01')).toEqual(['02 for 01', '04 for 01']);
    expect(without('02')).toEqual(['04 for 02']);
    expect(without('03')).toEqual(['04 for 03']);
    expect(without('05', '03')).toEqual(['04 for 03', '06 for 05']);
    expect(without('04')).toEqual([]);
  });

  it('include those that build on such a delta', () => {
    const chain = [on(d2, '01'), on(d4, '02')];
    expect(brokenDeltas(chain).map(({ lacking }) => lacking)).toEqual([['01'], ['02']]);
    expect(lackingOf({ group: ['02', '04'] }, [changed(on(d2), { pages: 3 }), on(d4)])).toEqual(['02']);
  });
});
