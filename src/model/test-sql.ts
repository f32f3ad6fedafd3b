import { identifier, literal } from '../duck/session.js';
import type { ColumnTest, Model, Severity } from './model-files.js';

/** A data test as SQL: a SELECT of the rows that fail it. */
export interface PlannedTest {
  /** Model that the test belongs to, or `checks` for a test across tables. */
  readonly model: string;
  /** What is tested, such as `not_null(price)`; for a check its file name without `.sql`. */
  readonly test: string;
  readonly severity: Severity;
  readonly sql: string;
  /** Of a test that judges each row of its model by itself: SQL that is true of a row `m` that fails. */
  readonly failing?: string;
}

/** The tests of a model: its key, then those of its columns, then its own. */
export function planModelTests(model: Model): readonly PlannedTest[] {
  const plan = (test: string, severity: Severity, failures: Failures): PlannedTest => ({
    model: model.name,
    test,
    severity,
    ...failures,
  });
  const unique = (columns: readonly string[], severity: Severity): PlannedTest =>
    plan(`unique(${columns.join(', ')})`, severity, duplicates(model, columns));
  return [
    unique(model.key, 'error'),
    ...Object.entries(model.columns).flatMap(([column, { tests }]) =>
      tests.map((test) =>
        test.kind === 'unique'
          ? unique([column], test.severity)
          : plan(columnLabel(column, test), test.severity, columnFailures(model, column, test)),
      ),
    ),
    ...model.tests.map((test) =>
      test.kind === 'unique'
        ? unique(test.columns, test.severity)
        : plan(
            `expression(${test.sql})`,
            test.severity,
            rowFailures(model, '*', `(${test.sql}\n) is not true`),
          ),
    ),
  ];
}

type Failures = Pick<PlannedTest, 'sql' | 'failing'>;
type RowTest = Exclude<ColumnTest, { kind: 'unique' }>;

function columnLabel(column: string, test: RowTest): string {
  return `${test.kind}(${test.kind === 'relationships' ? `${column} → ${test.to}` : column})`;
}

function columnFailures(model: Model, column: string, test: RowTest): Failures {
  const name = `m.${identifier(column)}`;
  // The key lets a reader find a failing row.
  const columns = [...new Set([...model.key, column])].map((each) => `m.${identifier(each)}`).join(', ');
  switch (test.kind) {
    case 'not_null':
      return rowFailures(model, columns, `${name} is null`);
    case 'accepted_values': {
      const values = test.values.map((value) => (typeof value === 'string' ? literal(value) : String(value)));
      return rowFailures(model, columns, `${name} is not null and ${name} not in (${values.join(', ')})`);
    }
    case 'relationships': {
      const [table = '', to = ''] = test.to.split('.');
      const parent = `select 1 from ${identifier(table)} as parent where parent.${identifier(to)} = ${name}`;
      return { sql: rowsWhere(model, columns, `${name} is not null and not exists (${parent})`) };
    }
  }
}

function duplicates(model: Model, columns: readonly string[]): Failures {
  const names = columns.map(identifier).join(', ');
  return {
    sql: `select ${names}, count(*) as copies from ${identifier(model.name)} group by ${names} having count(*) > 1`,
  };
}

function rowFailures(model: Model, columns: string, failing: string): Failures {
  return { sql: rowsWhere(model, columns, failing), failing };
}

function rowsWhere(model: Model, columns: string, condition: string): string {
  return `select ${columns} from ${identifier(model.name)} as m where ${condition}`;
}
