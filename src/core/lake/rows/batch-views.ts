import { identifier, literal } from '../../../base/duck/session.js';
import type { ContractNode } from '../../service/contract/node.js';
import type { Stream } from '../../service/streams.js';
import { isEntity, type LearnedPaths, nodeAt, REJECTED_MEMBER } from './types.js';

/** Table of the typed batch: the members of each record, with `_seq` and `_list`. */
export const BATCH = '_batch';

/** A relation over a typed batch: one for each place of the contract that `sql/flatten` reads from. */
export interface BatchView {
  readonly name: string;
  readonly sql: string;
  /** Kept as a temporary table, because many relations are cut from it. */
  readonly materialized: boolean;
}

/** Columns that a report hands down. Its reference to the vehicle names the listing. */
const REPORT = [
  'report_id as _report_id',
  'vehicle_ref.domain_id as _domain_id',
  'vehicle_ref.listing_id as _listing_id',
  'date_instant(created_at) as _month',
];

/** Columns that an entity hands down to everything below it, by the path of the entity. */
const HANDED_DOWN: Readonly<Record<string, readonly string[]>> = {
  'cars:': ['id as _vehicle_id'],
  'cars:lots[]': ['id as _lot_id', 'domain.id as _domain_id', 'created_at as _month'],
  'cars:inspections[]': REPORT,
  'cars:vehicle_history_reports[]': REPORT,
  'cars:inspections[].checked_items[]': ['_position as _checked_item_position'],
  'cars:vehicle_history_reports[].events[]': ['_position as _event_position'],
};

/**
 * An entity with more lists than this is unnested once and kept. With fewer lists, unnesting it for each list is cheaper
 * than copying its members, which took 20 % of the time of a load: half of a lot's bytes are image URLs.
 */
const MOST_UNNESTED = 2;

export const RECORDS = 'records';

/**
 * Plans the relations of a stream: `records`, and one for each list of objects (and the image set of a lot) with the
 * keys of its parents, `_position` (from 1), the members of the entity as columns, `_extra` (JSON of the members
 * the contract does not know, or null) and `_rejected` (columns whose values break the contract, or null).
 * @param isMended whether records of the batch list their rejected columns, and lists may hold null in place of a row
 */
export function planViews(
  { name: stream, contract }: Pick<Stream, 'name' | 'contract'>,
  learned: LearnedPaths,
  isMended: boolean,
): BatchView[] {
  const views: BatchView[] = [];
  const rejected = `${isMended ? identifier(REJECTED_MEMBER) : 'cast(null as varchar[])'} as _rejected`;
  const down = (path: string): readonly string[] => HANDED_DOWN[`${stream}:${path}`] ?? [];
  const view = (name: string, entity: ContractNode, from: string, isOpen = true): void => {
    const extra = extraSql(isOpen ? learnedOf(entity, contract, learned) : []);
    const added = [...down(entity.path), `${extra} as _extra`, rejected];
    const materialized = name !== RECORDS && children(entity).length > MOST_UNNESTED;
    views.push({ name, sql: `select *, ${added.join(', ')} from ${from}`, materialized });
  };
  const add = (node: ContractNode, from: string, inherited: readonly string[]): void => {
    const carried = [...new Set([...inherited, ...down(node.path).map(alias)])];
    for (const member of children(node)) {
      const list = identifier(member.name);
      const columns = ['_seq', ...carried].join(', ');
      if (member.element === undefined) {
        // An image set keeps no unknown members of its own.
        const members = `select ${columns}, ${list}.* from ${from} where ${list} is not null`;
        view(member.path, member, `(${members})`, false);
        continue;
      }
      const rows = isMended ? `list_filter(${list}, lambda row : row is not null)` : list;
      const elements = `select ${columns}, generate_subscripts(${rows}, 1) as _position, unnest(${rows}, max_depth := 2) from ${from}`;
      view(member.element.path, member.element, `(${elements})`);
      add(member.element, identifier(member.element.path), carried);
    }
  };
  view(RECORDS, contract, identifier(BATCH));
  add(contract, RECORDS, []);
  return views;
}

/** Members of a node that rows are cut from: lists of objects, and the image set. */
const children = (node: ContractNode): ContractNode[] =>
  [...node.members.values()].filter((member) => isEntity(member.element ?? member));

const alias = (column: string): string => column.slice(column.lastIndexOf(' ') + 1);

/** A learned member of an entity: its key in `extra`, which is its path from the entity, and the SQL of its value. */
interface ExtraEntry {
  readonly key: string;
  readonly value: string;
}

/** SQL of one JSON object of the entries that are not null, or null. */
function extraSql(given: readonly ExtraEntry[]): string {
  if (given.length === 0) return 'cast(null as varchar)';
  const entries = given.map(({ key, value }) => `{key: ${literal(key)}, value: ${value}}`);
  const present = `list_filter([${entries.join(', ')}], lambda entry : entry.value is not null)`;
  return `case when len(${present}) > 0 then cast(to_json(map_from_entries(${present})) as varchar) end`;
}

/** The learned members below an entity, but not below a list in it. */
function learnedOf(entity: ContractNode, contract: ContractNode, learned: LearnedPaths): ExtraEntry[] {
  const prefix = entity.path === '' ? '' : `${entity.path}.`;
  return learned
    .filter((path) => path.startsWith(prefix) && !path.slice(prefix.length).includes('[]'))
    .map((path) => {
      const key = path.slice(prefix.length);
      return { key, value: access(key, entity, contract) };
    });
}

/** SQL that reads a path below an entity; inside a field kept as JSON it goes on as a JSON path. */
function access(path: string, entity: ContractNode, contract: ContractNode): string {
  const [first = '', ...steps] = path.split('.');
  let sql = identifier(first);
  let at = entity.path === '' ? first : `${entity.path}.${first}`;
  for (const step of steps) {
    const isJson = nodeAt(contract, at)?.duckdb === 'JSON';
    sql = isJson
      ? `json_extract(${sql}, ${literal(`$."${step.replaceAll('"', '\\"')}"`)})`
      : `${sql}.${identifier(step)}`;
    at = `${at}.${step}`;
  }
  return sql;
}
