import * as Plot from '@observablehq/plot';
import { parseHTML } from 'linkedom';
import { numberOrNull } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import type { ChartSpec } from './chart-spec.js';
import { type Html, html, raw } from './html.js';

/** What a chart is drawn from. */
export interface Drawing {
  readonly chart: ChartSpec;
  readonly title: string;
  /** Rows of the query, with the texts of the chart as columns. */
  readonly rows: readonly Row[];
  /** Writes a value on an axis. */
  readonly format: (value: number) => string;
}

/** The screen that a chart is drawn for. */
export interface Size {
  readonly width: number;
  /** Whether it is a phone. */
  readonly isNarrow: boolean;
  /** Whether marks show a text when the reader points at them. */
  readonly hasTips: boolean;
}

/** A colour, and a shape for readers who do not see the colour. */
export interface Mark {
  readonly fill: string;
  readonly symbol: keyof typeof SHAPES;
}

/** A mark and what it stands for. */
export interface LegendItem extends Mark {
  readonly name: string;
}

/** The marks of sources by domain_id, the same in all charts. The style of the page has their light and dark colours. */
const SOURCES: Readonly<Record<string, Mark>> = {
  1: { fill: 'var(--c0)', symbol: 'circle' },
  3: { fill: 'var(--c1)', symbol: 'square' },
  12: { fill: 'var(--c2)', symbol: 'triangle' },
};
const OTHER_SOURCE: Mark = { fill: 'var(--c3)', symbol: 'diamond' };
const NO_SOURCE: Mark = { fill: 'var(--mark)', symbol: 'circle' };

/** The mark of a row's source; a mark of its own if the row has no source. */
export const markOf = ({ domain_id }: Row): Mark =>
  numberOrNull(domain_id) === null ? NO_SOURCE : (SOURCES[String(domain_id)] ?? OTHER_SOURCE);

/** The style of a line of reference. */
export const REFERENCE = { stroke: 'var(--muted)', strokeDasharray: '3 3' } as const;

const WIDE: Size = { width: 720, isNarrow: false, hasTips: true };
const NARROW: Size = { width: 340, isNarrow: true, hasTips: false };

const { document } = parseHTML('<!doctype html><html></html>');

/**
 * Renders a chart with its legend twice, for a screen or sheet and for a phone, so that text keeps its size. A small chart
 * serves for both. Text of the feed becomes text nodes, which are escaped when they are written.
 * @param description of the chart for readers who do not see it
 */
export function draw(
  { chart, title }: Pick<Drawing, 'title'> & { readonly chart: Pick<ChartSpec, 'id' | 'small'> },
  description: string,
  options: (size: Size) => Plot.PlotOptions,
  legend: readonly LegendItem[] = [],
): Html {
  const svg = (name: string, size: Size): Html =>
    raw(svgOf({ ...options(size), width: size.width }, `${chart.id}-${name}`, { desc: description, title }));
  return html`${legend.length > 0 && html`<ul class="legend">${legend.map(legendItem)}</ul>`}
${
  chart.small
    ? html`<div class="chart small">${svg('small', { ...NARROW, hasTips: true })}</div>`
    : html`<div class="chart"><div class="wide">${svg('wide', WIDE)}</div><div class="narrow">${svg('narrow', NARROW)}</div></div>`
}`;
}

function svgOf(options: Plot.PlotOptions, id: string, texts: Readonly<Record<string, string>>): string {
  const chart = Plot.plot({ ...options, document: document as NonNullable<Plot.PlotOptions['document']> });
  chart.querySelector('style')?.remove();
  // A part of a picture has no name of its own for readers of screens.
  for (const part of chart.querySelectorAll('[aria-label]')) {
    part.setAttribute('data-part', part.getAttribute('aria-label') ?? '');
    part.removeAttribute('aria-label');
  }
  chart.setAttribute('font-size', '12');
  chart.setAttribute('role', 'img');
  chart.setAttribute('aria-labelledby', `${id}-title ${id}-desc`);
  for (const [name, text] of Object.entries(texts)) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    element.setAttribute('id', `${id}-${name}`);
    element.textContent = text;
    chart.prepend(element);
  }
  return chart.outerHTML.replaceAll(PLACES, (places: string) => places.replaceAll(DIGITS, '$1'));
}

/** Attributes that place a mark, and their digits beyond tenths of a pixel, which nobody sees. */
const PLACES = / (?:d|transform|[xy][12]?|c[xy]|width|height|r)="[^"]*"/g;
const DIGITS = /(\.\d)\d+/g;

const SHAPES = {
  circle: 'M4.5,0A4.5,4.5,0,1,1,-4.5,0A4.5,4.5,0,1,1,4.5,0Z',
  ring: 'M4.5,0A4.5,4.5,0,1,1,-4.5,0A4.5,4.5,0,1,1,4.5,0Z',
  square: 'M-4,-4H4V4H-4Z',
  triangle: 'M0,-5L4.6,3.5H-4.6Z',
  diamond: 'M0,-5.5L4,0L0,5.5L-4,0Z',
} as const;

const legendItem = ({ name, fill, symbol }: LegendItem): Html =>
  html`<li><svg viewBox="-6 -6 12 12" aria-hidden="true"><path d="${SHAPES[symbol]}" fill="${fill}" stroke="${symbol === 'ring' ? 'var(--ink)' : 'none'}"></path></svg>${name}</li>`;
