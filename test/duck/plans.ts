import { DuckDBConnection } from '@duckdb/node-api';

/** An operator of a plan, as the JSON of EXPLAIN has it. */
interface Operator {
  readonly name: string;
  readonly children: readonly Operator[];
  readonly extra_info: Readonly<Record<string, unknown>>;
}

/** A statement that ran, with its plan if it computes rows. */
export interface Planned {
  readonly sql: string;
  readonly plan?: Operator;
}

/** Pieces of SQL: a quoted text or name, a comment, a semicolon, or what stands between these. */
const PIECES = /'[^']*'|"[^"]*"|--[^\n]*|;|[^'";-]+|-/g;

/** The statements of a text. */
export function statementsOf(sql: string): string[] {
  const statements = [''];
  for (const piece of sql.match(PIECES) ?? [])
    if (piece === ';') statements.push('');
    else statements.push(`${statements.pop()}${piece}`);
  return statements.filter((text) => text.trim() !== '');
}

/** Statements that compute rows. Others, such as those that attach a database or define a view, have no plan. */
const COMPUTES =
  /^(?:\s*--[^\n]*\n)*\s*(?:with|select|from|copy|insert|update|delete|create\s+(?:or\s+replace\s+)?(?:temp\s+)?table[^;]*?\bas)\b/i;

/** Joins of small tables by loops are turned off, so that the plan is the one of large tables. */
const AS_IF_LARGE = 'set nested_loop_join_threshold = 0; set merge_join_threshold = 0';

/**
 * The statements that run while `work` does, in every session of this process, each once, with the plan that it had when it
 * ran first.
 */
export async function plansOf(work: () => Promise<void>): Promise<Planned[]> {
  const planned = new Map<string, Planned>();
  const { run, stream } = DuckDBConnection.prototype;
  const plan = async (connection: DuckDBConnection, ...[sql, values, types]: Parameters<typeof run>) => {
    if (planned.has(sql)) return;
    planned.set(sql, { sql });
    if (!COMPUTES.test(sql)) return;
    // A locked database takes no settings.
    await run.call(connection, AS_IF_LARGE).catch(() => undefined);
    const explained = await run.call(connection, `explain (format json) ${sql}`, values, types);
    const [[, text] = []] = await explained.getRowsJS();
    planned.set(sql, { sql, plan: JSON.parse(String(text))[0] });
  };
  DuckDBConnection.prototype.run = async function (sql, values, types) {
    const statements = values === undefined ? statementsOf(sql) : [sql];
    if (statements.length > 1) {
      for (const statement of statements.slice(0, -1)) await this.run(statement);
      return await this.run(statements.at(-1) ?? '');
    }
    await plan(this, sql, values, types);
    return await run.call(this, sql, values, types);
  };
  DuckDBConnection.prototype.stream = async function (sql, values, types) {
    await plan(this, sql, values, types);
    return await stream.call(this, sql, values, types);
  };
  try {
    await work();
  } finally {
    Object.assign(DuckDBConnection.prototype, { run, stream });
  }
  return [...planned.values()];
}

/** Joins that compare each row of one side with each row of the other. */
const LOOPS = ['BLOCKWISE_NL_JOIN', 'NESTED_LOOP_JOIN', 'CROSS_PRODUCT'];

/** Operators that give so many rows whatever they read. */
const FIXED = [
  'UNGROUPED_AGGREGATE',
  'LIMIT',
  'STREAMING_LIMIT',
  'TOP_N',
  'DUMMY_SCAN',
  'COLUMN_DATA_SCAN',
  'RANGE',
];

/** Most rows of a relation that does not grow with the vehicles: a seed, or the one row of the settings. */
const MOST_FIXED_ROWS = 20;

/** DuckDB's estimate of the share of rows that pass a filter whose selectivity it does not know. */
const FILTERED = 0.2;

/** The joins of a plan that loop over two sides of which neither has a fixed size, by name and condition. */
export function loopsIn(plan: Operator): string[] {
  const ctes = new Map<unknown, Operator>();
  const found: string[] = [];
  const isFixed = (operator: Operator): boolean => {
    const { name, children, extra_info: info } = operator;
    // An aggregate of all rows that is no plain one, such as a list, is grouped by nothing.
    if (FIXED.includes(name) || (name === 'HASH_GROUP_BY' && info.Groups === '')) return true;
    if (name === 'CTE_SCAN') {
      const definition = ctes.get(info['CTE Index']);
      return definition !== undefined && isFixed(definition);
    }
    if (children.length > 0) return (name === 'CTE' ? children.slice(1) : children).every(isFixed);
    const share = info.Filters === undefined ? 1 : FILTERED;
    return Number(info['Estimated Cardinality'] ?? Number.POSITIVE_INFINITY) <= MOST_FIXED_ROWS * share;
  };
  const visit = (operator: Operator): void => {
    const { name, children, extra_info: info } = operator;
    const [definition] = children;
    if (name === 'CTE' && definition !== undefined) ctes.set(info['Table Index'], definition);
    for (const child of children) visit(child);
    if (LOOPS.includes(name) && !children.some(isFixed))
      found.push(`${name} ${info.Condition ?? info.Conditions ?? ''}`);
  };
  visit(plan);
  return found;
}

/** The joins by loops in statements, with the beginning of the statement. */
export function loopsOf(planned: readonly Planned[]): string[] {
  return planned.flatMap(({ sql, plan }) =>
    plan === undefined ? [] : loopsIn(plan).map((loop) => `${loop}, in: ${sql.slice(0, 300)}`),
  );
}
