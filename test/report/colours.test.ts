import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/base/config/package-root.js';

const css = readFileSync(join(packageRoot, 'site', 'report.css'), 'utf8');
const [light = '', dark = ''] = [...css.matchAll(/:root \{([^}]*)\}/g)].map(([, block]) => block);

type Colour = readonly number[];

/** The colours of the sources and the background in a block of the stylesheet, as linear light. */
function coloursOf(block: string) {
  const linear = (hex: string): Colour =>
    [0, 2, 4].map((at) => (Number.parseInt(hex.slice(at, at + 2), 16) / 255) ** 2.2);
  const found = (name: string) => [...block.matchAll(new RegExp(`--${name}: #(\\w{6});`, 'g'))];
  return {
    sources: found('c\\d').map(([, hex = '']) => linear(hex)),
    paper: found('paper').map(([, hex = '']) => linear(hex))[0] ?? [],
  };
}

/** Rows of matrices by Machado and others (2009). They simulate the sight without one kind of cones. */
const SIGHTS: Readonly<Record<string, readonly Colour[]>> = {
  'all cones': [
    [1, 0, 0],
    [0, 1, 0],
    [0, 0, 1],
  ],
  'no long cones': [
    [0.152286, 1.052583, -0.204868],
    [0.114503, 0.786281, 0.099216],
    [-0.003882, -0.048116, 1.051998],
  ],
  'no medium cones': [
    [0.367322, 0.860646, -0.227968],
    [0.280085, 0.672501, 0.047413],
    [-0.01182, 0.04294, 0.968881],
  ],
  'no short cones': [
    [1.255528, -0.076749, -0.178779],
    [-0.078411, 0.930809, 0.147602],
    [0.004733, 0.691367, 0.3039],
  ],
};

const times = (rows: readonly Colour[], colour: Colour): number[] =>
  rows.map((row) => row.reduce((sum, factor, i) => sum + factor * (colour[i] ?? 0), 0));

/** A colour in OKLab, where distances match perceived differences. */
function perceived(colour: Colour): number[] {
  const cones = times(
    [
      [0.4122214708, 0.5363325363, 0.0514459929],
      [0.2119034982, 0.6806995451, 0.1073969566],
      [0.0883024619, 0.2817188376, 0.6299787005],
    ],
    colour.map((light) => Math.min(1, Math.max(0, light))),
  );
  return times(
    [
      [0.2104542553, 0.793617785, -0.0040720468],
      [1.9779984951, -2.428592205, 0.4505937099],
      [0.0259040371, 0.7827717662, -0.808675766],
    ],
    cones.map(Math.cbrt),
  );
}

const luminance = (colour: Colour): number => times([[0.2126, 0.7152, 0.0722]], colour)[0] ?? 0;

describe.each([
  ['light', coloursOf(light)],
  ['dark', coloursOf(dark)],
])('the colours of sources in the %s', (_, { sources, paper }) => {
  it.each(Object.entries(SIGHTS))('are distinguishable with %s', (_, sight) => {
    expect(sources).toHaveLength(4);
    const seen = sources.map((colour) => perceived(times(sight, colour)));
    for (const [i, one] of seen.entries())
      for (const other of seen.slice(0, i))
        expect(Math.hypot(...one.map((x, k) => x - (other[k] ?? 0)))).toBeGreaterThan(0.12);
  });

  it('contrast with the paper', () => {
    for (const colour of sources) {
      const [dim = 0, bright = 0] = [luminance(colour), luminance(paper)].sort((a, b) => a - b);
      expect((bright + 0.05) / (dim + 0.05)).toBeGreaterThan(3);
    }
  });
});
