import { parseHTML } from 'linkedom';
import { expect, it } from 'vitest';
import { chartSpec } from '../../src/ask/page/chart-spec.js';
import { dotMap } from '../../src/ask/page/map.js';

it.each([
  ['clearly below', 0.9, 0.88, 0.92, 'var(--below)'],
  ['clearly above', 1.1, 1.05, 1.15, 'var(--above)'],
  ['above by chance', 1.1, 0.95, 1.25, 'var(--soft-ink)'],
  ['more than chance, yet 1.00 in its table', 1.004, 1.001, 1.007, 'var(--soft-ink)'],
  ['without a figure', null, null, null, 'none'],
])('a state that is %s', (_, alike, alike_low, alike_high, fill) => {
  const place = (state_code: string, longitude: number, lots: number) => ({
    ...{ name: state_code, short: state_code, state_code, latitude: 35, longitude, lots },
    ...{ alike, alike_low, alike_high },
  });
  const map = dotMap({
    chart: chartSpec.parse({ kind: 'map', id: 'map', axis: 'whole' }),
    title: 'Map',
    rows: [place('TX', -99, 20), place('CA', -120, 10)],
    format: String,
  });
  const { document } = parseHTML(String(map));
  const dots = [...document.querySelectorAll('circle')];
  expect(dots.length).toBeGreaterThanOrEqual(2);
  const fills = dots.map((dot) => dot.getAttribute('fill') ?? dot.parentElement?.getAttribute('fill'));
  expect(new Set(fills)).toEqual(new Set([fill]));
});
