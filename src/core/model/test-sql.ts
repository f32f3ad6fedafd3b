import { identifier, literal } from '../../base/duck/session.js';
import type { ColumnTest, Model, ModelTest, Severity } from './model-files.js';

/** A data test as SQL: a SELECT of the rows that fail it. */
export interface PlannedTest {
  /** Model that the test belongs to, or `checks` for a test across tables. */
  readonly model: string;
  /** Name of the test, such as `not_null(price)`; for a check its file name without `.sql`. */
  readonly test: string;
  readonly severity: Severity;
  readonly sql: string;
  /** SQL that is true of a row `m` that fails, if the test judges each row of its model by itself. */
  readonly failing?: string;
}

type Test = (ColumnTest & { readonly columns: readonly string[] }) | ModelTest;

/** The tests of a model: its key, then those of its columns, then its own. */
export function planModelTests(model: Model): readonly PlannedTest[] {
  const ofColumns = Object.entries(model.columns).flatMap(([column, { tests }]) =>
    tests.map((test) => ({ columns: [column], ...test })),
  );
  const key = { kind: 'unique', columns: model.key, severity: 'error' } as const;
  return [key, ...ofColumns, ...model.tests].map((test) => planTest(model, test));
}

/**
 * A query of one row: the number of failing rows of each test, in columns 0, 1 and so on. Tests of one model that judge
 * each row by itself share one scan of it.
 */
export function failuresOf(tests: readonly PlannedTest[]): string {
  const counts = tests.map(({ failing, sql }, place) =>
    failing === undefined
      ? `(select count(*) from (\n${sql}\n)) as "${place}"`
      : `(count(*) filter (where ${failing})) as "${place}"`,
  );
  const from = tests.some(({ failing }) => failing !== undefined)
    ? ` from ${identifier(tests[0]?.model ?? '')} as m`
    : '';
  return `select ${counts.join(',\n')}${from}`;
}

function planTest({ name, key }: Model, test: Test): PlannedTest {
  const table = identifier(name);
  const plan = (label: string, sql: string): PlannedTest => ({
    model: name,
    test: `${test.kind}(${label})`,
    severity: test.severity,
    sql,
  });
  const planRowTest = (label: string, columns: string, failing: string): PlannedTest => ({
    ...plan(label, `select ${columns} from ${table} as m where ${failing}`),
    failing,
  });
  if (test.kind === 'expression') return planRowTest(test.sql, '*', `(${test.sql}\n) is not true`);
  const label = test.columns.join(', ');
  const names = test.columns.map(identifier).join(', ');
  const value = `m.${names}`;
  // The key lets a reader find a failing row.
  const shown = [...new Set([...key, ...test.columns])].map((each) => `m.${identifier(each)}`).join(', ');
  switch (test.kind) {
    case 'unique':
      return plan(
        label,
        `select ${names}, count(*) as copies from ${table} group by ${names} having count(*) > 1`,
      );
    case 'not_null':
      return planRowTest(label, shown, `${value} is null`);
    case 'accepted_values': {
      const values = test.values.map((each) => (typeof each === 'string' ? literal(each) : String(each)));
      return planRowTest(label, shown, `${value} is not null and ${value} not in (${values.join(', ')})`);
    }
    case 'relationships': {
      const [other = '', to = ''] = test.to.split('.');
      // DuckDB plans `not exists` as a grouping and two joins.
      const parent = `${identifier(other)} as parent on parent.${identifier(to)} = ${value}`;
      return plan(
        `${label} → ${test.to}`,
        `select ${shown} from ${table} as m anti join ${parent} where ${value} is not null`,
      );
    }
  }
}
