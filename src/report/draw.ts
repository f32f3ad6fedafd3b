import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';

/** A chart as SVG, drawn twice: for a screen or sheet, and for a phone. */
export interface Chart {
  readonly wide: string;
  readonly narrow: string;
}

/** Widths that charts are drawn for, in CSS pixels; text keeps its size in both. */
const WIDE = 720;
const NARROW = 340;

/** What names a chart. */
export interface Named {
  /** Unique in the page. */
  readonly id: string;
  readonly title: string;
}

/** What a chart says to those who do not see it. */
export interface Alternative extends Named {
  readonly description: string;
}

/** Whether a chart is drawn for a phone, and how wide. */
export interface Size {
  readonly width: number;
  readonly isNarrow: boolean;
}

const { document } = parseHTML('<!doctype html><html></html>');

/** Renders a chart in both sizes. Text of the feed becomes text nodes, which are escaped when they are written out. */
export function draw(alternative: Alternative, options: (size: Size) => Plot.PlotOptions): Chart {
  const render = (isNarrow: boolean): string => {
    const size = { width: isNarrow ? NARROW : WIDE, isNarrow };
    return svg(
      { ...alternative, id: `${alternative.id}-${isNarrow ? 'narrow' : 'wide'}` },
      size.width,
      options(size),
    );
  };
  return { wide: render(false), narrow: render(true) };
}

function svg(alternative: Alternative, width: number, options: Plot.PlotOptions): string {
  const chart = Plot.plot({
    ...options,
    document: document as NonNullable<Plot.PlotOptions['document']>,
    width,
  });
  const { id, title, description } = alternative;
  chart.setAttribute('font-size', '12');
  chart.setAttribute('role', 'img');
  chart.setAttribute('aria-labelledby', `${id}-title ${id}-desc`);
  for (const [name, text] of [
    ['desc', description],
    ['title', title],
  ] as const) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    element.setAttribute('id', `${id}-${name}`);
    element.textContent = text;
    chart.prepend(element);
  }
  return chart.outerHTML;
}

/** Colours of series, in order; the page says what they are in light and in dark. */
export const SERIES = ['var(--c0)', 'var(--c1)', 'var(--c2)', 'var(--c3)'] as const;

/** Symbols of series, in order. */
export const SYMBOLS = ['circle', 'square', 'triangle', 'diamond'] as const;

/** Colour scale of named series; the fifth and later ones are grey. */
export function colours(names: readonly string[]): Plot.ScaleOptions {
  return { type: 'ordinal', domain: [...names], range: names.map((_, i) => SERIES[i] ?? 'var(--muted)') };
}

/** Symbols of named series, so that they can be told apart without colours. */
export function symbols(names: readonly string[]): Plot.ScaleOptions {
  return { type: 'ordinal', domain: [...names], range: names.map((_, i) => SYMBOLS[i] ?? 'circle') };
}
