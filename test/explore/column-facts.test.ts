import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { columnFacts } from '../../src/ask/explore/column-facts.js';
import { openTemporarySession, type TemporarySession } from '../../src/base/duck/session.js';

let opened: TemporarySession;
beforeAll(async () => {
  opened = await openTemporarySession({ memory: '200MB', threads: 1 });
  await opened.session.connection.run(`
    create table facts as select
      range as id,
      case when range % 4 = 0 then null when range % 4 = 1 then 'rare ' || range else 'common' end as name,
      cast(null as varchar) as never,
      case when range = 77777 then 'once' end as once,
      [range % 3, 7] as list,
      cast(2 as double) / 3 as ratio,
      timestamptz '2026-11-20 06:00:00+00' as instant,
      'a' || chr(7) || chr(27) || '[31m' || chr(10) || repeat('x', 100) as ugly
    from range(100000);
    create table nothing (id bigint);
    create table rejects as select 1 as page, '{"secret": 1}' as raw, 'text' as found`);
});
afterAll(() => opened.close());

const factsOf = (name: string, rows: number, columns: readonly string[]) =>
  columnFacts(opened.session.connection, {
    name,
    key: columns.slice(0, 1),
    rows,
    columns: columns.map((column) => ({ name: column, type: column === 'ratio' ? 'DOUBLE' : 'VARCHAR' })),
  });

describe('columnFacts', () => {
  it('counts nulls exactly and shows the most frequent values of a sample', async () => {
    const facts = await factsOf('facts', 100_000, ['id', 'name', 'never', 'once', 'list', 'instant']);
    expect(facts.get('id')?.nullRate).toBe(0);
    expect(facts.get('id')?.examples).toHaveLength(3);
    expect(facts.get('name')).toMatchObject({ nullRate: 0.25 });
    expect(facts.get('name')?.examples[0]).toBe('common');
    expect(facts.get('never')).toEqual({ nullRate: 1, examples: [] });
    expect(facts.get('list')?.examples).toEqual(expect.arrayContaining(['[0, 7]', '[1, 7]', '[2, 7]']));
    expect(facts.get('instant')).toEqual({ nullRate: 0, examples: ['2026-11-20 06:00:00+00'] });
  });

  it('shows a value that only one row in a hundred thousand has', async () => {
    const facts = await factsOf('facts', 100_000, ['id', 'once']);
    expect(facts.get('once')?.nullRate).toBeCloseTo(0.99999, 10);
    expect(facts.get('once')?.examples).toEqual(['once']);
  });

  it('rounds values with many decimals', async () => {
    expect((await factsOf('facts', 100_000, ['id', 'ratio'])).get('ratio')?.examples).toEqual(['0.6667']);
  });

  it('is the same every time', async () => {
    expect(await factsOf('facts', 100_000, ['id', 'name'])).toEqual(
      await factsOf('facts', 100_000, ['id', 'name']),
    );
  });

  it('shortens examples and strips control characters', async () => {
    const [example = ''] = (await factsOf('facts', 100_000, ['id', 'ugly'])).get('ugly')?.examples ?? [];
    expect(example).toMatch(/^a {2}\[31m x+…$/);
    expect(example).toHaveLength(48);
  });

  it('shows no raw record, and nothing of an empty table', async () => {
    const facts = await factsOf('rejects', 1, ['page', 'raw', 'found']);
    expect(facts.get('raw')).toEqual({ nullRate: 0, examples: [] });
    expect(facts.get('found')?.examples).toEqual(['text']);
    expect((await factsOf('nothing', 0, ['id'])).size).toBe(0);
  });
});
