import { tableFromIPC } from 'apache-arrow';
import { expect, it } from 'vitest';
import { arrowStream } from '../../src/ask/query/arrow.js';
import { csvLine } from '../../src/ask/query/csv.js';
import { openResult } from '../../src/ask/query/result.js';
import { arrowValue, cellValue, jsonValue } from '../../src/ask/query/result-values.js';
import { openTemporarySession, rows } from '../../src/base/duck/session.js';

const SQL = `select chr(65279) as mark, chr(65279) || 'a' as text, chr(65279) || chr(65279) || repeat('long ', 9) as long,
  [chr(65279) || 'l'] as list, {'a': chr(65279) || 's'} as struct, map {chr(65279) || 'k': chr(65279) || 'v'} as map,
  (chr(65279) || 'e')::json as json where false union all
  select chr(65279), chr(65279) || 'a', chr(65279) || chr(65279) || repeat('long ', 9), [chr(65279) || 'l'],
  {'a': chr(65279) || 's'}, map {chr(65279) || 'k': chr(65279) || 'v'}, '"' || chr(65279) || 'e"'`;

/** Marks in a value, however deep. */
const marks = (value: unknown): number =>
  [...JSON.stringify(value)].filter((each) => each === '\ufeff').length;

it('keeps U+FEFF at the beginning of a value, wherever the value goes', async () => {
  const opened = await openTemporarySession({ memory: '500MB', threads: 1 });
  const { connection } = opened.session;
  try {
    const [row] = await rows(connection, SQL);
    expect(marks(row)).toBe(9);
    for (const take of [jsonValue, arrowValue, cellValue]) {
      const { columns, rows: pieces } = await openResult(connection, { sql: SQL, select: SQL });
      const found = [];
      for await (const piece of pieces(take)) found.push(...piece);
      expect(found.map(marks), take.name).toEqual([9]);
      expect([...csvLine(found[0] ?? [], columns)].filter((each) => each === '\ufeff')).toHaveLength(9);
    }
    const { columns, rows: pieces } = await openResult(connection, { sql: SQL, select: SQL });
    const chunks: Uint8Array[] = [];
    for await (const chunk of arrowStream(columns, pieces(arrowValue))) chunks.push(chunk);
    // The reader of Arrow drops the mark, so the bytes have to show it.
    expect(tableFromIPC(Buffer.concat(chunks)).numRows).toBe(1);
    expect(Buffer.concat(chunks).toString('latin1').split('\u00ef\u00bb\u00bf')).toHaveLength(10);
  } finally {
    opened.close();
  }
});
