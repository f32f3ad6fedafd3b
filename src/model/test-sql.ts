import { identifier, literal } from '../lake/session.js';
import type { ColumnTest, Model, Severity } from './model-files.js';

/** A data test as SQL: a SELECT of the rows that fail it. */
export interface PlannedTest {
  /** Model that the test belongs to, or `checks` for a test across tables. */
  readonly model: string;
  /** What is tested, such as `not_null(price)`; for a check its file name without `.sql`. */
  readonly test: string;
  readonly severity: Severity;
  readonly sql: string;
}

/** The tests of a model: its key, then those of its columns, then its own. */
export function planModelTests(model: Model): readonly PlannedTest[] {
  const plan = (test: string, severity: Severity, sql: string): PlannedTest => ({
    model: model.name,
    test,
    severity,
    sql,
  });
  return [
    plan(`unique(${model.key.join(', ')})`, 'error', duplicates(model, model.key)),
    ...Object.entries(model.columns).flatMap(([column, { tests }]) =>
      tests.map((test) =>
        plan(columnLabel(column, test), test.severity, columnFailures(model, column, test)),
      ),
    ),
    ...model.tests.map((test) =>
      test.kind === 'unique'
        ? plan(`unique(${test.columns.join(', ')})`, test.severity, duplicates(model, test.columns))
        : plan(`expression(${test.sql})`, test.severity, violations(model, test.sql)),
    ),
  ];
}

function columnLabel(column: string, test: ColumnTest): string {
  return `${test.kind}(${test.kind === 'relationships' ? `${column} → ${test.to}` : column})`;
}

function columnFailures(model: Model, column: string, test: ColumnTest): string {
  const name = `m.${identifier(column)}`;
  const failing = `select ${shown(model, [column])} from ${identifier(model.name)} as m where `;
  switch (test.kind) {
    case 'unique':
      return duplicates(model, [column]);
    case 'not_null':
      return `${failing}${name} is null`;
    case 'accepted_values':
      return `${failing}${name} is not null and ${name} not in (${test.values.map(valueLiteral).join(', ')})`;
    case 'relationships': {
      const [table = '', to = ''] = test.to.split('.');
      return `${failing}${name} is not null and not exists (
        select 1 from ${identifier(table)} as parent where parent.${identifier(to)} = ${name})`;
    }
  }
}

function duplicates(model: Model, columns: readonly string[]): string {
  const names = columns.map(identifier).join(', ');
  return `select ${names}, count(*) as copies from ${identifier(model.name)} group by ${names} having count(*) > 1`;
}

function violations(model: Model, sql: string): string {
  return `select * from ${identifier(model.name)} where (${sql}) is not true`;
}

/** Columns that let a reader find a failing row. */
function shown(model: Model, columns: readonly string[]): string {
  return [...new Set([...model.key, ...columns])].map((column) => `m.${identifier(column)}`).join(', ');
}

function valueLiteral(value: string | number | boolean): string {
  return typeof value === 'string' ? literal(value) : String(value);
}
