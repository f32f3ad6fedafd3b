import type { DuckDBConnection } from '@duckdb/node-api';
import { treeOf } from '../../src/core/model/sql-tree.js';

/**
 * Functions and operators with the same name and meaning in DuckDB and Spark, as far as lotlake uses them, with their
 * numbers of arguments. Before you add one, let `npm run test:engines` show that both return the same rows.
 */
const FUNCTIONS: ReadonlySet<string> = new Set(
  [
    '%/2 */2 +/2 -/1 -/2 //2 ||/2 ~~/2',
    'abs/1 array_contains/2 avg/1 bool_and/1 bool_or/1 count/0 count/1 count_if/1 count_star/0 date_part/2',
    'date_trunc/2 exp/1',
    // Of lotlake's own (sql/functions), with one definition for each engine.
    'day_of/1 days_between/2 deviation_95/2 engine_cm3/1 enough/1 first_text/1 head_of_vin/1 is_auction/1 margin_95/1 money/1 month_of/1 page_of_lot/3 plain_name/1 price_band/1 plausible_date/2 plausible_event_date/2 plausible_price/1 plausible_year/2 second_of/1',
    'first_value/1 floor/1 last_value/1',
    'greatest/2 instr/2 lag/1 lead/1 least/2 left/2 length/1 ln/1 lower/1 max/1 max_by/2 median/1 min/1 min_by/2 nullif/2',
    'quantile_cont/1',
    'regexp_matches/2 replace/3 round/1 row_number/0 sqrt/1 substring/3 sum/1 to_json/1 trim/1 upper/1',
    // The parser turns `interval '1' day` and the like into these.
    'to_days/1 to_hours/1 to_minutes/1 to_months/1 to_years/1 trunc/1',
  ].flatMap((line) => line.split(' ')),
);

/**
 * Parts of a date that DuckDB and Spark count alike. Spark starts weeks on another day. Cast seconds, because Spark
 * keeps their fraction.
 */
const PARTS: ReadonlySet<unknown> = new Set('year month day hour minute second'.split(' '));

/** What to write instead, if the reason is not obvious. */
const INSTEAD: Readonly<Record<string, string>> = {
  'round/2': 'round(x * 100) / 100: Spark rounds the decimal text of a number, DuckDB the number',
  'concat/2': '||: for a null, concat gives null in Spark and an empty text in DuckDB',
  'unnest/1': 'cross join lateral unnest(list) as name(column)',
};

/**
 * Kinds of expressions and relations that DuckDB and Spark share. Only DuckDB has others, such as QUALIFY or a list
 * index.
 */
const EXPRESSIONS: ReadonlySet<string> = new Set([
  ...['BETWEEN', 'CASE', 'CAST', 'COLUMN_REF', 'COMPARISON', 'CONJUNCTION', 'CONSTANT', 'FUNCTION', 'STAR'],
  ...['SUBQUERY', 'WINDOW'],
]);
const OPERATORS = /^(COMPARE_(NOT_)?IN|OPERATOR_(COALESCE|NOT|IS_NULL|IS_NOT_NULL|NULLIF))$/;
const TYPES: ReadonlySet<string> = new Set(
  'BIGINT BOOLEAN DATE DOUBLE INTEGER INTERVAL TIMESTAMP TIMESTAMP_TZ VARCHAR'.split(' '),
);

/** Spellings that DuckDB's parser accepts and its tree does not show. */
const SPELLINGS: readonly (readonly [RegExp, string])[] = [
  [/\bvarchar\b(?!\()/i, 'varchar: write string, since Spark wants a length'],
  [/\bilike\b|\bglob\b|\bsimilar\b/i, 'ilike, glob and similar to belong to DuckDB'],
];

type Node = Readonly<Record<string, unknown>>;

/** What in a SELECT only DuckDB understands, or Spark understands differently; empty if both return the same rows. */
export async function onlyDuckDB(connection: DuckDBConnection, sql: string): Promise<readonly string[]> {
  const tree = await treeOf(connection, sql);
  if (tree.error) return [`no SELECT: ${tree.error_message}`];
  const found = [...nodesOf(tree)].flatMap((node) => [...problemsOf(node)]);
  const words = sql.replaceAll(/--.*|'(?:[^']|'')*'|"[^"]*"/g, ' ');
  const spelled = SPELLINGS.filter(([pattern]) => pattern.test(words)).map(([, problem]) => problem);
  return [...new Set([...found, ...spelled])];
}

function* nodesOf(tree: unknown): Generator<Node> {
  if (typeof tree !== 'object' || tree === null) return;
  const node: Node = { ...tree };
  if (!Array.isArray(tree)) yield node;
  // A call of a table function is judged as a relation, and its arguments separately.
  const members =
    node.type === 'TABLE_FUNCTION' ? { ...node, function: Object(node.function).children } : node;
  for (const member of Object.values(members)) yield* nodesOf(member);
}

function* problemsOf(node: Node): Generator<string> {
  if (node.class !== undefined) yield* ofExpression(node);
  if (node.type === 'TABLE_FUNCTION' && Object(node.function).function_name !== 'unnest')
    yield `table function ${Object(node.function).function_name}`;
  if (node.class === 'WINDOW') yield* ofOrder(node);
  if (Array.isArray(node.modifiers)) yield* ofModifiers(node.modifiers);
  if (node.qualify) yield 'qualify';
  if (node.sample) yield 'sample';
  if (node.ref_type === 'ASOF' || node.ref_type === 'POSITIONAL') yield `${node.ref_type} join`;
}

function* ofExpression({ class: kind, type, function_name: name, ...node }: Node): Generator<string> {
  if (kind === 'FUNCTION' || kind === 'WINDOW') {
    const call = `${name}/${Object(node.children).length}`;
    if (!FUNCTIONS.has(call)) yield INSTEAD[call] ?? `function ${call}`;
    const [part] = name === 'date_part' ? Object(node.children) : [];
    if (part !== undefined && !PARTS.has(Object(part.value).value))
      yield 'a part of a date that Spark may count otherwise';
  } else if (kind === 'OPERATOR' ? !OPERATORS.test(String(type)) : !EXPRESSIONS.has(String(kind)))
    yield `${kind} ${type}`;
  if (kind === 'CAST' && !TYPES.has(Object(node.cast_type).id)) yield `type ${Object(node.cast_type).id}`;
  if (
    kind === 'STAR' &&
    (node.columns || Object(node.exclude_list).length || Object(node.replace_list).length)
  )
    yield 'a star with columns(), exclude or replace';
  if (kind === 'CONSTANT' && String(Object(node.value).value).includes('\\'))
    yield 'a backslash in a text, which Spark reads as an escape';
}

/** DuckDB puts nulls last; in Spark, it depends on the direction. Percentiles ignore nulls. */
function* ofOrder({ orders }: Node): Generator<string> {
  for (const { null_order: nulls } of Array.isArray(orders) ? orders : [])
    if (nulls === 'ORDER_DEFAULT') yield 'order by without nulls last';
}

function* ofModifiers(modifiers: readonly Node[]): Generator<string> {
  const has = (type: string): boolean => modifiers.some((each) => each.type === type);
  for (const each of modifiers) yield* ofOrder(each);
  if (has('LIMIT_MODIFIER') && !has('ORDER_MODIFIER')) yield 'limit without order by';
  for (const each of modifiers)
    if (each.type === 'DISTINCT_MODIFIER' && Object(each.distinct_on_targets).length) yield 'distinct on';
}
