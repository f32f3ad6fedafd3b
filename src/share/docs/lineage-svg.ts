import { Graph, layout } from '@dagrejs/dagre';
import { html } from 'hono/html';
import type { Html } from './html.js';
import type { Lineage, LineageNode } from './lineage.js';

/** Sizes in pixels of the picture. */
const CHARACTER = 7.3;
const PADDING = 22;
const HEIGHT = 26;
const MARGIN = 8;

interface Placed extends LineageNode {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

interface Point {
  readonly x: number;
  readonly y: number;
}

/** How a lineage is drawn. */
export interface DrawOptions {
  /** What the picture shows, for those who do not see it. */
  readonly label: string;
  /** Page of a node, relative to the page of the picture; undefined where it has none. */
  readonly href: (node: LineageNode) => string | undefined;
  /** Node that the page is about. */
  readonly current?: string;
}

/** Draws a lineage from left to right as SVG, laid out by dagre; colours come from the stylesheet. */
export function lineageSvg(lineage: Lineage, { label, href, current }: DrawOptions): Html {
  const { nodes, edges, width, height } = place(lineage);
  const names = new Map(lineage.nodes.map(({ id, kind, name }) => [id, `${kind} ${name}`]));
  return html`<svg class="lineage" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="group" aria-label="${label}">
<g class="edges">
${edges.map(
  ({ from, to, path }) =>
    html`<path d="${path}" data-from="${from}" data-to="${to}"><title>${names.get(from)} → ${names.get(to)}</title></path>
`,
)}</g>
${nodes.map((node) => drawn(node, href(node), node.id === current))}</svg>`;
}

function drawn(node: Placed, href: string | undefined, isCurrent: boolean): Html {
  const shape = html`<rect x="${node.x - node.width / 2}" y="${node.y - HEIGHT / 2}" width="${node.width}" height="${HEIGHT}" rx="5"/><text x="${node.x - node.width / 2 + PADDING / 2}" y="${node.y + 4.5}">${node.name}</text>`;
  const classes = `node ${node.kind}${isCurrent ? ' current' : ''}`;
  return href === undefined
    ? html`<g class="${classes}" data-id="${node.id}">${shape}</g>
`
    : html`<a class="${classes}" data-id="${node.id}" href="${href}">${shape}</a>
`;
}

function place(lineage: Lineage): {
  readonly nodes: readonly Placed[];
  readonly edges: readonly { readonly from: string; readonly to: string; readonly path: string }[];
  readonly width: number;
  readonly height: number;
} {
  const graph = new Graph();
  graph.setGraph({ rankdir: 'LR', nodesep: 8, edgesep: 6, ranksep: 70, marginx: MARGIN, marginy: MARGIN });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const { id, kind } of lineage.nodes)
    graph.setNode(id, { width: widthOf(lineage, kind), height: HEIGHT });
  for (const { from, to } of lineage.edges) graph.setEdge(from, to);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  return {
    nodes: lineage.nodes.map((node) => {
      const { x, y, width: wide } = graph.node(node.id);
      return { ...node, x: round(x), y: round(y), width: round(wide) };
    }),
    edges: lineage.edges.map(({ from, to }) => ({
      from,
      to,
      path: curve(graph.edge(from, to).points ?? []),
    })),
    width: Math.ceil(width),
    height: Math.ceil(height),
  };
}

/** Nodes of a kind are equally wide, so that they stand in columns. */
function widthOf({ nodes }: Lineage, kind: string): number {
  const longest = Math.max(...nodes.filter((node) => node.kind === kind).map(({ name }) => name.length));
  return Math.round(longest * CHARACTER + PADDING);
}

/** A line through points that leaves each of them horizontally. */
function curve(points: readonly Point[]): string {
  return points
    .map(({ x, y }, place) => {
      const before = points[place - 1];
      if (before === undefined) return `M${round(x)} ${round(y)}`;
      const middle = round((before.x + x) / 2);
      return `C${middle} ${round(before.y)} ${middle} ${round(y)} ${round(x)} ${round(y)}`;
    })
    .join('');
}

const round = (value: number): number => Math.round(value * 10) / 10;
