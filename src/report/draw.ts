import * as Plot from '@observablehq/plot';
import { html, raw } from 'hono/html';
import { parseHTML } from 'linkedom';
import type { Html } from '../docs/html.js';
import type { Row } from '../duck/session.js';
import type { ChartSpec } from './spec.js';

/** What a chart is drawn from. */
export interface Drawing {
  readonly chart: ChartSpec;
  readonly title: string;
  /** Rows of the query, with the texts of the chart as columns. */
  readonly rows: readonly Row[];
  /** Writes a value on an axis. */
  readonly format: (value: number) => string;
}

/** Whether a chart is drawn for a phone, and how wide. */
export interface Size {
  readonly width: number;
  readonly isNarrow: boolean;
}

/** A mark and what it stands for. */
export interface LegendItem {
  readonly name: string;
  readonly fill: string;
  readonly symbol: keyof typeof SHAPES;
}

const { document } = parseHTML('<!doctype html><html></html>');

/**
 * Renders a chart with its legend, for a screen or sheet, and for a phone; text keeps its size in both. Text of the feed
 * becomes text nodes, which are escaped when they are written out.
 * @param description what the chart says to those who do not see it
 */
export function draw(
  { chart, title }: Drawing,
  description: string,
  options: (size: Size) => Plot.PlotOptions,
  legend: readonly LegendItem[] = [],
): Html {
  const svg = (name: string, size: Size): Html =>
    raw(svgOf({ ...options(size), width: size.width }, `${chart.id}-${name}`, { desc: description, title }));
  return html`${legend.length > 0 && html`<ul class="legend">${legend.map(legendItem)}</ul>`}
<div class="chart"><div class="wide">${svg('wide', { width: 720, isNarrow: false })}</div><div class="narrow">${svg('narrow', { width: 340, isNarrow: true })}</div></div>`;
}

function svgOf(options: Plot.PlotOptions, id: string, texts: Readonly<Record<string, string>>): string {
  const chart = Plot.plot({ ...options, document: document as NonNullable<Plot.PlotOptions['document']> });
  chart.setAttribute('font-size', '12');
  chart.setAttribute('role', 'img');
  chart.setAttribute('aria-labelledby', `${id}-title ${id}-desc`);
  for (const [name, text] of Object.entries(texts)) {
    const element = document.createElementNS('http://www.w3.org/2000/svg', name);
    element.setAttribute('id', `${id}-${name}`);
    element.textContent = text;
    chart.prepend(element);
  }
  return chart.outerHTML;
}

const SHAPES = {
  circle: 'M4.5,0A4.5,4.5,0,1,1,-4.5,0A4.5,4.5,0,1,1,4.5,0Z',
  ring: 'M4.5,0A4.5,4.5,0,1,1,-4.5,0A4.5,4.5,0,1,1,4.5,0Z',
  square: 'M-4,-4H4V4H-4Z',
  triangle: 'M0,-5L4.6,3.5H-4.6Z',
  diamond: 'M0,-5.5L4,0L0,5.5L-4,0Z',
} as const;

const legendItem = ({ name, fill, symbol }: LegendItem): Html =>
  html`<li><svg viewBox="-6 -6 12 12" aria-hidden="true"><path d="${SHAPES[symbol]}" fill="${fill}" stroke="${symbol === 'ring' ? 'var(--ink)' : 'none'}"></path></svg>${name}</li>`;
