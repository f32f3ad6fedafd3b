import { requests } from '../service/requests.js';
import { streams } from '../service/streams.js';
import type { CatalogTable } from './catalog.js';

/** What a node of the lineage stands for, in the order in which data goes. */
type LineageKind = 'endpoint' | 'stream' | 'table' | 'mart';

/** A node of the lineage. */
export interface LineageNode {
  /** Kind and name, since a stream and its table may share a name. */
  readonly id: string;
  readonly kind: LineageKind;
  readonly name: string;
}

/** An arrow from what is read to what reads it, by ids. */
interface LineageEdge {
  readonly from: string;
  readonly to: string;
}

/** Where data comes from and goes to. */
export interface Lineage {
  readonly nodes: readonly LineageNode[];
  readonly edges: readonly LineageEdge[];
}

/** Takes the place of a stream for the tables that lotlake writes about its own work. */
const OWN_WORK = 'work of lotlake';

/** Requests by which single vehicles join the feed: the closing job and `lookup --save`. */
const LOOKUPS = [requests.car, requests.listing, requests.searchVin, requests.searchLot];

/** The way of the data from endpoint to stream to lake table to mart. */
export function lineageOf(catalog: readonly CatalogTable[]): Lineage {
  const nodes = new Map<string, LineageNode>();
  const edges: LineageEdge[] = [];
  const node = (kind: LineageKind, name: string): string => {
    const id = `${kind}:${name}`;
    nodes.set(id, { id, kind, name });
    return id;
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
export function endpointsOf(stream: keyof typeof streams): readonly string[] {
  const { request, path } = streams[stream];
  const main = Object.values(requests).find((each) => each === request)?.path ?? path;
  return stream === 'cars' ? [main, ...LOOKUPS.map((lookup) => lookup.path)] : [main];
}

/** The part of a lineage that leads to a node, and what reads that node. */
export function around({ nodes, edges }: Lineage, id: string): Lineage {
  const kept = new Set([id]);
  const queue = [id];
  for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
    for (const { from, to } of edges) {
      if (to !== next || kept.has(from)) continue;
      kept.add(from);
      queue.push(from);
    }
  }
  const above = new Set(kept);
  for (const { from, to } of edges) if (from === id) kept.add(to);
  return {
    nodes: nodes.filter((node) => kept.has(node.id)),
    edges: edges.filter(
      ({ from, to }) => (above.has(from) && above.has(to)) || (from === id && kept.has(to)),
    ),
  };
}
