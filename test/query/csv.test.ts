import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { csvField, csvHeader } from '../../src/ask/query/csv.js';

/** What a spreadsheet may take for a formula once it has dropped what nobody sees. */
const isGuarded = (text: string): boolean => {
  const shown = text.replace(/^'*/, '');
  return /^[\t\r]/.test(shown) || /^[=+\-@＝＋－＠−﹦]/.test(shown.replace(/^[\s\ufeff\u200b\u0001]+/, ''));
};

/** The text of a field in RFC 4180, without the character that disarms formulas. */
function readField(field: string): string {
  const text = field.startsWith('"') ? field.slice(1, -1).replaceAll('""', '"') : field;
  return /^'+[^']*?[=+\-@\t\r＝＋－＠−﹦]/.test(text) && isGuarded(text.slice(1)) ? text.slice(1) : text;
}

describe('csvField', () => {
  it.each([
    ['null is empty', null, 'VARCHAR', ''],
    ['an empty text is not', '', 'VARCHAR', '""'],
    ['numbers stay numbers', -12.5, 'DOUBLE', '-12.5'],
    [
      'and so do integers beyond what JavaScript counts to',
      '-9007199254740993',
      'BIGINT',
      '-9007199254740993',
    ],
    ['booleans', false, 'BOOLEAN', 'false'],
    ['an instant', '2026-09-09T19:44:38.123456Z', 'TIMESTAMP WITH TIME ZONE', '2026-09-09T19:44:38.123456Z'],
    ['a date', '2026-09-09', 'DATE', '2026-09-09'],
    ['a list', ['a', 'b "c"', null], 'VARCHAR[]', '"[""a"",""b \\""c\\"""",null]"'],
    ['a list of decimals', ['12.50', null, '-3.00'], 'DECIMAL(12,2)[]', '"[""12.50"",null,""-3.00""]"'],
    ['a decimal', '-12.50', 'DECIMAL(12,2)', '-12.50'],
    ['separators', 'a,b', 'VARCHAR', '"a,b"'],
    ['lines', 'a\nb', 'VARCHAR', '"a\nb"'],
    ['a formula', '=HYPERLINK("x")', 'VARCHAR', '"\'=HYPERLINK(""x"")"'],
    ['other beginnings of formulas', '@a', 'VARCHAR', "'@a"],
    ['a tab', '\t=1', 'VARCHAR', "'\t=1"],
    ['a sign of full width', '＝1+1', 'VARCHAR', "'＝1+1"],
    ['a plus of full width', '＋1', 'VARCHAR', "'＋1"],
    ['a minus of full width', '－1', 'VARCHAR', "'－1"],
    ['an at sign of full width', '＠SUM(1)', 'VARCHAR', "'＠SUM(1)"],
    ['a small sign', '﹦1', 'VARCHAR', "'﹦1"],
    ['a minus of mathematics', '−1', 'VARCHAR', "'−1"],
    ['a space before it', ' =1', 'VARCHAR', "' =1"],
    [
      'wide and unseen spaces before it',
      '\u3000\u00a0\u200b\ufeff=1',
      'VARCHAR',
      "'\u3000\u00a0\u200b\ufeff=1",
    ],
    ['a line before it', '\n=1', 'VARCHAR', '"\'\n=1"'],
    ['a control character before it', '\u0001@a', 'VARCHAR', "'\u0001@a"],
    ['a mark and no formula', '\ufeffabc', 'VARCHAR', '\ufeffabc'],
    ['a space and no formula', ' abc = 1', 'VARCHAR', ' abc = 1'],
    ['a telephone number', '+49 30', 'VARCHAR', "'+49 30"],
    ['a text that is a number', '-12', 'VARCHAR', '-12'],
    ['a text that was disarmed before', "'=1", 'VARCHAR', "''=1"],
    ['an apostrophe that is only one', "'hello", 'VARCHAR', "'hello"],
  ])('%s', (_, value, type, field) => {
    expect(csvField(value, type)).toBe(field);
  });

  it('writes no text that begins a formula, and each text can be read back', () => {
    const text = fc.string({
      unit: fc.constantFrom(
        ...['=', '+', '-', '@', '\t', '\r', "'", '"', ',', '\n', '1', '.', 'é'],
        ...['＝', '＋', '－', '＠', '−', '﹦', ' ', '\u200b', '\ufeff', '\u0001'],
      ),
    });
    fc.assert(
      fc.property(text, (value) => {
        const field = csvField(value, 'VARCHAR');
        const shown = field.startsWith('"') ? field.slice(1) : field;
        const begins = /^[\s\u0001\u200b\ufeff]*[=+\-@＝＋－＠−﹦]|^[\t\r]/.test(shown);
        expect(begins && !/^-\d+(\.\d+)?$/.test(shown)).toBe(false);
        expect(readField(field)).toBe(value);
      }),
      { numRuns: 2000 },
    );
  });
});

describe('csvHeader', () => {
  it('quotes and escapes column names too', () => {
    expect(
      csvHeader([
        { name: 'a,b', type: 'BIGINT' },
        { name: '=1', type: 'BIGINT' },
      ]),
    ).toBe('"a,b",\'=1\r\n');
  });
});
