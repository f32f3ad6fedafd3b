import { Graph, layout } from '@dagrejs/dagre';
import type { CatalogTable } from '../../core/model/dictionary.js';
import { requests } from '../../core/service/requests.js';
import { type StreamName, streams } from '../../core/service/streams.js';
import { type Html, html, pathOf } from './html.js';

/** Kinds of nodes, in the direction of the data. */
const KINDS = ['endpoint', 'stream', 'table', 'mart'] as const;

type LineageKind = (typeof KINDS)[number];

interface LineageNode {
  /** Kind and name, since a stream and its table may share a name. */
  readonly id: string;
  readonly kind: LineageKind;
  readonly name: string;
}

/** Where data comes from and goes to: edges lead from a source to its reader. */
export interface Lineage {
  readonly nodes: readonly LineageNode[];
  readonly edges: readonly { readonly from: LineageNode; readonly to: LineageNode }[];
}

/** Stands for the stream of the tables that lotlake writes about its own work. */
const OWN_WORK = 'work of lotlake';

/** Requests that add single vehicles to the stream `cars`, by the closing job and `lookup --save`. */
const LOOKUPS = [requests.car, requests.listing, requests.searchVin, requests.searchLot];

/** The lineage from endpoint to stream to lake table to mart. */
export function lineageOf(catalog: readonly CatalogTable[]): Lineage {
  const nodes = new Map<string, LineageNode>();
  const edges: { from: LineageNode; to: LineageNode }[] = [];
  const node = (kind: LineageKind, name: string): LineageNode => {
    const id = `${kind}:${name}`;
    const found = nodes.get(id) ?? { id, kind, name };
    nodes.set(id, found);
    return found;
  };
  for (const { name } of Object.values(streams))
    for (const path of endpointsOf(name))
      edges.push({ from: node('endpoint', path), to: node('stream', name) });
  const kinds = new Map(catalog.map(({ name, kind }) => [name, kind]));
  for (const table of catalog) {
    const to = node(table.kind, table.name);
    if (table.kind === 'table') edges.push({ from: node('stream', table.stream ?? OWN_WORK), to });
    for (const name of table.reads) edges.push({ from: node(kinds.get(name) ?? 'table', name), to });
  }
  return { nodes: [...nodes.values()], edges };
}

/** Paths of the endpoints that fill a stream, as the service documents them. */
export function endpointsOf(stream: StreamName): readonly string[] {
  return [streams[stream].request, ...(stream === 'cars' ? LOOKUPS : [])].map(({ path }) => path);
}

/** The part of a lineage that leads to a node, and the readers of that node. */
export function around({ nodes, edges }: Lineage, id: string): Lineage {
  const above = new Set(nodes.filter((node) => node.id === id));
  // The loop also visits nodes that are added during it.
  for (const next of above) for (const { from, to } of edges) if (to === next) above.add(from);
  const kept = edges.filter(({ from, to }) => above.has(to) || from.id === id);
  const reached = new Set([...above, ...kept.map(({ to }) => to)]);
  return { nodes: nodes.filter((node) => reached.has(node)), edges: kept };
}

/** Sizes in pixels of the picture. */
const CHARACTER = 7.3;
const PADDING = 22;
const HEIGHT = 26;
const MARGIN = 8;

interface Point {
  readonly x: number;
  readonly y: number;
}

type Placed = LineageNode & Point & { readonly width: number };

/**
 * Draws a lineage from left to right as SVG, laid out by dagre; colours come from the stylesheet.
 * @param label describes the picture to readers who do not see it
 * @param root relative path from the page to the root of the site
 * @param current id of the node that the page is about
 */
export function lineageSvg(lineage: Lineage, label: string, root: string, current?: string): Html {
  const graph = graphOf(lineage);
  layout(graph);
  const { width = 0, height = 0 } = graph.graph();
  const [wide, high] = [Math.ceil(width), Math.ceil(height)];
  const boxes = lineage.nodes.map((node) => placed(node, graph));
  const edges = lineage.edges.map(({ from, to }) => {
    const [start, end] = [placed(from, graph), placed(to, graph)];
    const across = acrossColumns(graph.edge(from.id, to.id).points ?? [], boxes);
    const out = { x: start.x + start.width / 2, y: start.y };
    const path = curve([out, ...across, { x: end.x - end.width / 2, y: end.y }]);
    return html`<path d="${path}" data-from="${from.id}" data-to="${to.id}"><title>${from.kind} ${from.name} → ${to.kind} ${to.name}</title></path>
`;
  });
  return html`<div class="wide" tabindex="0" role="region" aria-label="${label}"><svg class="lineage" viewBox="0 0 ${wide} ${high}" width="${wide}" height="${high}" style="--natural: ${wide}px" role="group" aria-label="${label}">
<g class="edges">
${edges}</g>
${boxes.map((node) => box(node, root, node.id === current))}</svg></div>`;
}

function placed(node: LineageNode, graph: Graph): Placed {
  const { x, y, width } = graph.node(node.id);
  return { ...node, x: round(x), y: round(y), width: round(width) };
}

/** A box that links to the page of its node, unless that is this page or there is none. */
function box(node: Placed, root: string, isCurrent: boolean): Html {
  const { kind, x, y, width } = node;
  const shape = html`<rect x="${x - width / 2}" y="${y - HEIGHT / 2}" width="${width}" height="${HEIGHT}" rx="5"/><text x="${x - width / 2 + PADDING / 2}" y="${y + 4.5}">${node.name}</text>`;
  const classes = `node ${kind}${isCurrent ? ' current' : ''}`;
  return isCurrent || kind === 'endpoint' || kind === 'stream'
    ? html`<g class="${classes}" data-id="${node.id}">${shape}</g>
`
    : html`<a class="${classes}" data-id="${node.id}" href="${root}${pathOf(node)}">${shape}</a>
`;
}

/** Gives each kind its column (rank); dagre orders and places the nodes within it. */
function graphOf(lineage: Lineage): Graph {
  const graph = new Graph();
  const spaces = { nodesep: 8, edgesep: 6, ranksep: 56, marginx: MARGIN, marginy: MARGIN };
  graph.setGraph({ rankdir: 'LR', ranker: 'none', ...spaces });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const node of lineage.nodes) {
    // dagre keeps the rank between two columns for the labels of edges.
    const rank = 2 * columnOf(lineage, node);
    graph.setNode(node.id, { width: widthOf(lineage, node.kind), height: HEIGHT, rank });
  }
  // If nothing else decides, dagre puts the last edge on top.
  for (const { from, to } of lineage.edges.toReversed()) graph.setEdge(from.id, to.id);
  return graph;
}

/**
 * The points where an edge enters and leaves the columns between its boxes. dagre gives a point for each rank, and every
 * second rank is a column.
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

/** The column of a node's kind. A mart that reads marts stands one column after the last of them. */
function columnOf(lineage: Lineage, node: LineageNode): number {
  const read = node.kind === 'mart' ? lineage.edges.filter(({ to }) => to === node) : [];
  return Math.max(KINDS.indexOf(node.kind), ...read.map(({ from }) => columnOf(lineage, from) + 1));
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
