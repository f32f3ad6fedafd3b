import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  literal,
  openTemporarySession,
  rows,
  scalar,
  type TemporarySession,
} from '../../src/base/duck/session.js';
import type { TableSchema } from '../../src/core/lake/schema.js';
import { ACTIONS } from '../../src/core/reconcile/merge-table.js';
import { type Rule, readsOf, ruleOf, rules } from '../../src/core/reconcile/rules.js';
import { bindCounted, OF_RULES } from '../../src/core/reconcile/state.js';
import { schemasOf } from '../load/support.js';
import { FOLDER, play } from './play.js';

let session: TemporarySession;
let all: readonly TableSchema[];
let schemas: readonly TableSchema[];

beforeAll(async () => {
  session = await openTemporarySession({ memory: '500MB', threads: 1 });
  all = [...(await schemasOf('cars')), ...(await schemasOf('archived_lots'))];
  schemas = all.filter(({ table }) => OF_RULES.has(table.name));
});
afterAll(() => session.close());

it('binding the rows that count again gives the same rows, as after a step that ran out of memory', async () => {
  const { connection } = session.session;
  await play(connection, all, join(FOLDER, 'delivered_lots', 'an-active-lot'), ruleOf('delivered_lots'));
  const bound = async () => {
    await bindCounted(connection, schemas);
    return rows(connection, 'from counted.lots order by all');
  };
  const first = await bound();
  expect(first).not.toEqual([]);
  expect(await bound()).toEqual(first);
});

it('a rule comes after the rules that it reads', () => {
  const names = rules.map(({ name }) => name);
  for (const [i, rule] of rules.entries()) {
    const read = readsOf(rule).filter((each) => names.includes(each));
    expect(names.slice(0, i), rule.name).toEqual(expect.arrayContaining(read));
  }
});

/** What happens to each row of a table, which `merge-table.ts` computes for each. */
const actions: Rule = {
  name: 'actions',
  kind: 'table',
  sql: ACTIONS,
  key: [],
  columns: { _action: '' },
  description: '',
};

for (const rule of [...rules, actions])
  describe(`the rule ${rule.name}`, () => {
    const folder = join(FOLDER, rule.name);
    const cases = existsSync(folder) ? readdirSync(folder).sort() : [];
    it('has cases', () => expect(cases).not.toEqual([]));

    it.each(cases)('%s', async (name) => {
      const { connection } = session.session;
      await play(connection, all, join(folder, name), rule);
      const relation = `run.${rule.name}`;
      const types = new Map(
        (await rows(connection, `describe ${relation}`)).map((row) => [
          String(row.column_name),
          String(row.column_type),
        ]),
      );
      expect([...types.keys()]).toEqual(expect.arrayContaining(Object.keys(rule.columns)));
      const file = `read_csv(${literal(join(folder, name, 'expected.csv'))}, all_varchar = true, header = true)`;
      const columns = (await rows(connection, `describe from ${file}`)).map((row) => String(row.column_name));
      const typed = columns.map(
        (column) => `cast(cast(${column} as ${types.get(column)}) as varchar) as ${column}`,
      );
      const actual = await rows(
        connection,
        `select ${columns.map((c) => `cast(${c} as varchar) as ${c}`)} from ${relation} order by all`,
      );
      expect(actual).toEqual(await rows(connection, `select ${typed} from ${file} order by all`));
      if (rule.key.length === 0) return;
      const [total, keys] = [
        `select count(*) from ${relation}`,
        `select count(*) from (select distinct ${rule.key} from ${relation})`,
      ];
      expect(await scalar(connection, keys)).toBe(await scalar(connection, total));
    });
  });
