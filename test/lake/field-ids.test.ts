import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { fieldIdsOption, giveIds, hashOf, type WantedColumn } from '../../src/core/lake/field-ids.js';

const column = (name: string, type = 'BIGINT', was?: string): WantedColumn => ({ name, type, was });

/** The records after nights that want these columns, one after the other. */
function nights(...wanted: WantedColumn[][]) {
  const records: ReturnType<typeof giveIds>[] = [];
  for (const columns of wanted) records.push(giveIds(columns, records.at(-1), false));
  return records;
}

/** Ids by name. */
const idsIn = ({ columns }: ReturnType<typeof giveIds>) =>
  Object.fromEntries(columns.map(({ name, field_id }) => [name, field_id]));

describe('the ids of the columns of a table', () => {
  it('are hashes of names, and two names of one hash do not share it', () => {
    expect(hashOf('price_35')).toBe(hashOf('price_945'));
    const [both] = nights([column('price_35'), column('price_945'), column('lot_id')]);
    expect(both?.columns.map(({ field_id }) => field_id)).toEqual([
      ...[hashOf('price_35'), hashOf('price_35') + 1, hashOf('lot_id')],
    ]);
  });

  it('stay, whatever is added before a column', () => {
    const [first, second] = nights([column('price_945')], [column('price_35'), column('price_945')]);
    expect(first && idsIn(first)).toEqual({ price_945: hashOf('price_945') });
    expect(second && idsIn(second)).toEqual({
      price_35: hashOf('price_945') + 1,
      price_945: hashOf('price_945'),
    });
  });

  it('are not given again after a column is gone, not even to a column of its name', () => {
    const [, second, third] = nights([column('a'), column('b')], [column('b')], [column('a'), column('b')]);
    expect(second?.dropped).toEqual([{ name: 'a', type: 'BIGINT', field_id: hashOf('a') }]);
    expect(third && idsIn(third)).toEqual({ a: hashOf('a') + 1, b: hashOf('b') });
    expect(third?.dropped).toEqual(second?.dropped);
  });

  it('stay for a wider integer, and not for another type', () => {
    const [, wide, text] = nights([column('n', 'INTEGER')], [column('n')], [column('n', 'VARCHAR')]);
    expect(wide && idsIn(wide)).toEqual({ n: hashOf('n') });
    expect(text && idsIn(text)).toEqual({ n: hashOf('n') + 1 });
    expect(text?.dropped).toEqual([{ name: 'n', type: 'BIGINT', field_id: hashOf('n') }]);
  });

  it('stay under a new name that says which one it had', () => {
    const [, second, third, fourth] = nights(
      [column('fee')],
      [column('buyer_fee', 'BIGINT', 'fee')],
      [column('buyer_fee', 'BIGINT', 'fee')],
      [column('buyer_fee', 'BIGINT', 'fee'), column('fee')],
    );
    expect(second && idsIn(second)).toEqual({ buyer_fee: hashOf('fee') });
    expect(third).toEqual(second);
    expect(fourth && idsIn(fourth)).toEqual({ buyer_fee: hashOf('fee'), fee: hashOf('fee') + 1 });
  });

  it('are those of lists and of their elements', () => {
    const [first, second, third] = nights(
      [column('tags', 'INTEGER[]')],
      [column('tags', 'BIGINT[]')],
      [column('tags', 'VARCHAR')],
    );
    const given = { name: 'tags', field_id: hashOf('tags'), element_id: hashOf('tags.element') };
    expect(first?.columns).toEqual([{ ...given, type: 'INTEGER[]' }]);
    expect(second?.columns).toEqual([{ ...given, type: 'BIGINT[]' }]);
    expect(third?.columns).toEqual([{ name: 'tags', type: 'VARCHAR', field_id: hashOf('tags') + 1 }]);
    expect(fieldIdsOption(first?.columns ?? [])).toBe(
      `field_ids {"tags": {__duckdb_field_id: ${given.field_id}, element: ${given.element_id}}}`,
    );
  });

  it('leave the one of the month in the path alone', () => {
    expect(giveIds([column('month')], undefined, true).columns[0]?.field_id).toBe(hashOf('month') + 1);
  });

  it('never have two meanings, whatever comes and goes', () => {
    const names = fc.constantFrom('a', 'b', 'price_35', 'price_945', 'a.element');
    const types = fc.constantFrom('BIGINT', 'VARCHAR', 'BIGINT[]');
    const wanted = fc.uniqueArray(fc.record({ name: names, type: types }), { selector: ({ name }) => name });
    fc.assert(
      fc.property(fc.array(wanted, { maxLength: 8 }), (all) => {
        const meanings = new Map<number, string>();
        for (const { columns } of nights(...all)) {
          const ids = columns.flatMap(({ field_id, element_id }) => [
            field_id,
            ...(element_id ? [element_id] : []),
          ]);
          expect(new Set(ids).size).toBe(ids.length);
          for (const { name, type, field_id, element_id } of columns) {
            const meant = `${name} ${type}`;
            for (const id of [field_id, element_id])
              if (id !== undefined) expect(meanings.get(id) ?? meant).toBe(meant);
            meanings.set(field_id, meant);
            if (element_id !== undefined) meanings.set(element_id, meant);
          }
        }
      }),
    );
  });
});
