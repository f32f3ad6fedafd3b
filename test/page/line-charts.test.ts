import { parseHTML } from 'linkedom';
import { describe, expect, it } from 'vitest';
import type { ChartSpec } from '../../src/ask/page/chart-spec.js';
import { overTime } from '../../src/ask/page/line-charts.js';
import { spec } from '../../src/ask/report/spec.js';

/** A chart of the report, with some members replaced. */
function chartWith(more: Partial<ChartSpec>): ChartSpec {
  const charts = spec.sections.flatMap(({ figures }) => figures.flatMap(({ chart }) => chart ?? []));
  const found = charts.find(({ id }) => id === 'chart-sell-through');
  if (found === undefined) throw new TypeError('no chart of the sell-through');
  return { ...found, ...more };
}

/** A month of a line. A state means that the month is incomplete. */
const month = (moment: string, value: number | null, state: string | null = null) => ({
  ...{
    moment: `2026-${moment}-01`,
    value,
    state,
    series: 'a',
    domain_id: 3,
    based_on: 10,
    description: moment,
  },
  ...{ interval_low: value === null ? null : value / 2, interval_high: value === null ? null : value * 9 },
});

/** The parts of the drawing for a screen. */
function drawn(rows: readonly ReturnType<typeof month>[], more: Partial<ChartSpec> = {}) {
  const chart = chartWith(more);
  const { document } = parseHTML(String(overTime({ chart, title: 't', rows, format: String })));
  const count = (selector: string) => [...document.querySelectorAll(`.wide ${selector}`)].length;
  const paths = (label: string) =>
    [...document.querySelectorAll(`.wide [data-part=${label}] path`)].map(
      (path) => path.getAttribute('d') ?? '',
    );
  return {
    dashed: paths('link').length,
    hollow: count('[data-part=dot][fill="var(--paper)"] > path'),
    filled: count('[data-part=dot] > path[fill="var(--c1)"]'),
    /** Points of each whole line. */
    whole: paths('line')
      .flatMap((d) => d.split('M').slice(1))
      .map((piece) => piece.split(/[LZ]/).filter(Boolean).length),
    whiskers: count('[data-part=rule] line'),
    bands: paths('area').length,
    ticks: [...document.querySelectorAll('.wide [data-part="y-axis tick label"] text')].map((tick) =>
      Number(tick.textContent),
    ),
  };
}

describe('a line over time', () => {
  it('is dashed and hollow for a partial month, at its end and within it', () => {
    expect(
      drawn([
        month('01', 1),
        month('02', 2),
        month('03', 3, 'in part'),
        month('04', 2),
        month('05', 1, 'so far'),
      ]),
    ).toMatchObject({ dashed: 3, hollow: 2, filled: 3, whole: [2, 1] });
  });

  it('is broken if a value is missing', () => {
    expect(drawn([month('01', 1), month('02', null), month('03', 3), month('04', 2)])).toMatchObject({
      ...{ dashed: 0, hollow: 0, filled: 3, whole: [1, 2] },
    });
  });

  it('has an interval at each point, shown as far as the scale of the values reaches', () => {
    const { ticks, ...marks } = drawn([month('01', 100), month('02', 120)]);
    expect(marks).toMatchObject({ whiskers: 2, bands: 1 });
    expect([ticks[0], ticks.at(-1)]).toEqual([0, 140]);
  });

  it('has a scale near its reference if it has one, and shows whole intervals', () => {
    const { ticks } = drawn([month('01', 100), month('02', 120)], { reference: 100 });
    expect([ticks[0], ticks.at(-1)]).toEqual([0, 1200]);
    const close = [96, 104].map((value, i) => ({
      ...month(`0${i + 1}`, value),
      interval_low: 94,
      interval_high: 107,
    }));
    expect(drawn(close, { reference: 100 }).ticks[0]).toBeGreaterThan(90);
  });
});

describe('panels by age', () => {
  it('have the ages below them that have room', () => {
    const rows = [0, 7, 14, 30, 60, 90, 180].map((day) => ({
      ...{ moment: new Date(day * 86_400_000), value: day / 200, series: 'sold', panel: 'copart.com' },
      ...{ domain_id: null, interval_low: null, interval_high: null, description: String(day) },
    }));
    const chart = chartWith({ kind: 'panels', unit: 'age', axis: 'share' });
    const { document } = parseHTML(String(overTime({ chart, title: 't', rows, format: String })));
    const ticks = [...document.querySelectorAll('.wide [data-part="x-axis tick label"] text')];
    expect(ticks.map((tick) => tick.textContent)).toEqual(['0', '90', '60', '30', '180']);
    expect(document.querySelector('.wide desc')?.textContent).toBe('Lines by day for copart.com. 180');
  });
});
