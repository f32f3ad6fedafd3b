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
  /** Address of the page of a node, relative to this page; undefined if it has none. */
  readonly href: (node: LineageNode) => string | undefined;
  /** Node that the page is about. */
  readonly current?: string;
}

/** Draws a lineage from left to right as SVG, laid out by dagre; colours come from the stylesheet. */
export function lineageSvg(lineage: Lineage, { label, href, current }: DrawOptions): Html {
  const { nodes, edges, width, height } = place(lineage);
  const names = new Map(lineage.nodes.map(({ id, kind, name }) => [id, `${kind} ${name}`]));
  return html`<svg class="lineage" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" style="--natural: ${width}px" role="group" aria-label="${label}">
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

interface Picture {
  readonly nodes: readonly Placed[];
  readonly edges: readonly { readonly from: string; readonly to: string; readonly path: string }[];
  readonly width: number;
  readonly height: number;
}

function place(lineage: Lineage): Picture {
  const graph = graphOf(lineage);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  const nodes = lineage.nodes.map((node): Placed => {
    const { x, y, width: wide } = graph.node(node.id);
    return { ...node, x: round(x), y: round(y), width: round(wide) };
  });
  const byId = new Map(nodes.map((node) => [node.id, node]));
  const edges = lineage.edges.flatMap(({ from, to }) => {
    const [start, end] = [byId.get(from), byId.get(to)];
    if (start === undefined || end === undefined) return [];
    const across = acrossColumns(graph.edge(from, to).points ?? [], nodes);
    const out = { x: start.x + start.width / 2, y: start.y };
    return [{ from, to, path: curve([out, ...across, { x: end.x - end.width / 2, y: end.y }]) }];
  });
  return { nodes, edges, width: Math.ceil(width), height: Math.ceil(height) };
}

/** Gives each kind its column (rank); dagre orders and places the nodes within it. */
function graphOf(lineage: Lineage): Graph {
  const graph = new Graph();
  const spaces = { nodesep: 8, edgesep: 6, ranksep: 56, marginx: MARGIN, marginy: MARGIN };
  graph.setGraph({ rankdir: 'LR', ranker: 'none', ...spaces });
  graph.setDefaultEdgeLabel(() => ({}));
  const ranks = ranksOf(lineage);
  for (const { id, kind } of lineage.nodes)
    graph.setNode(id, { width: widthOf(lineage, kind), height: HEIGHT, rank: ranks.get(id) });
  // dagre puts the edge that came last on top if nothing else decides.
  for (const { from, to } of lineage.edges.toReversed()) graph.setEdge(from, to);
  return graph;
}

/**
 * Where an edge enters and leaves the columns that it crosses between two boxes: dagre gives one point a rank, of which
 * every second one is in a column.
 */
function acrossColumns(points: readonly Point[], nodes: readonly Placed[]): readonly Point[] {
  const crossed = points.slice(1, -1).filter((_, place) => place % 2 === 1);
  return crossed.flatMap(({ x, y }) => {
    const column = nodes.filter((node) => Math.abs(node.x - x) < 1);
    const half = Math.max(0, ...column.map(({ width }) => width / 2));
    return [
      { x: x - half, y },
      { x: x + half, y },
    ];
  });
}

const COLUMNS = ['endpoint', 'stream', 'table', 'mart'] as const;

/** Column of each node: its kind, and for marts that read marts one after the last of those. */
function ranksOf({ nodes, edges }: Lineage): ReadonlyMap<string, number> {
  const kinds = new Map(nodes.map(({ id, kind }) => [id, kind]));
  const columnOf = (id: string): number => {
    const kind = kinds.get(id) ?? 'table';
    const before =
      kind === 'mart' ? edges.filter(({ to }) => to === id).map(({ from }) => columnOf(from)) : [];
    return Math.max(COLUMNS.indexOf(kind), ...before.map((column) => column + 1));
  };
  // dagre keeps the rank between two columns for the labels of edges.
  return new Map(nodes.map(({ id }) => [id, 2 * columnOf(id)]));
}

/** All nodes of a kind are as wide as the widest, so that they form a column. */
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
