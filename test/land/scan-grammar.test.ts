import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { ScanError } from '../../src/core/service/scan/scan-page.js';
import { cut, scanChunks, spaced, spaces, tokenPage } from './support.js';

function failureOf(chunks: Iterable<Uint8Array>): unknown {
  try {
    scanChunks(chunks);
  } catch (error) {
    return error;
  }
  return undefined;
}

/** Number of records that JSON.parse finds in a page; undefined if the text is not a page. */
function parsed(text: string): { readonly records: number | null } | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (typeof value !== 'object' || value === null) return undefined;
  const data: unknown = Array.isArray(value) ? value : Reflect.get(value, 'data');
  const isRecord = typeof data === 'object' && data !== null;
  return { records: Array.isArray(data) ? data.length : isRecord ? 1 : null };
}

it.each(['[]', '[{"id":2}]', '{"id":2}'])('a page with a second list of records is refused: %s', (second) => {
  const page = Buffer.from(`{"data":[{"id":1}],"data":${second}}`);
  expect(failureOf([page])).toMatchObject({
    message: expect.stringContaining('byte 19, in record 1: expected one list of records'),
  });
});

describe('malformed pages', () => {
  // The marker ^ precedes the byte that is wrong.
  it.each([
    ['a comma behind the last member of a record', '{"data":[{"id":1,^}]}'],
    ['a comma behind the last record', '{"data":[{"id":1},^]}'],
    ['a comma behind the last entry of a list', '{"data":[{"id":1,"lots":[{"id":1},^]}]}'],
    ['a comma behind data', '{"data":[],^}'],
    ['a comma behind the last member of the envelope', '{"data":[],"meta":{},^}'],
    ['a comma in front', '{"data":[^,{"id":1}]}'],
    ['two commas', '[{"id":1},^,{"id":2}]'],
    ['a missing comma', '[{"id":1} ^{"id":2}]'],
    ['a missing comma in the envelope', '{"meta":1 ^"data":[]}'],
    ['a missing colon', '[{"id" ^1}]'],
    ['single quotes', "[{^'id':1}]"],
    ['a name without quotes', '[{^id:1}]'],
    ['a text in single quotes', '[{"vin":^\'a\'}]'],
    ['a leading zero', '[{"id":^012}]'],
    ['a leading zero behind a sign', '[{"id":-^01}]'],
    ['a leading plus', '[{"id":^+1}]'],
    ['a sign alone', '[{"id":-^}]'],
    ['a dot without digits', '[{"id":1.^}]'],
    ['a dot in front', '[{"id":^.5}]'],
    ['an exponent without digits', '[{"id":1e^}]'],
    ['a number in hexadecimal', '[{"id":0^x10}]'],
    ['not quite NaN', '[{"id":Na^n}]'],
    ['not quite infinity', '[{"id":-Infinit^e}]'],
    ['NaN behind a plus', '[{"id":^+NaN}]'],
    ['NaN in place of a record', '[NaN^N]'],
    ['a word cut short', '[{"id":nul^}]'],
    ['a word in capitals', '[{"id":^True}]'],
    ['a word that goes on', '[{"id":null^a}]'],
    ['a line end in a text', '[{"vin":"a^\nb"}]'],
    ['a zero byte in a text', '[{"vin":"a^\0b"}]'],
    ['a tab in a name', '[{"v^\tin":1}]'],
    ['an unknown escape', '[{"vin":"a\\^x"}]'],
    ['an escape in capitals', '[{"vin":"a\\^N"}]'],
    ['a short hex escape', '[{"vin":"\\u12^"}]'],
    ['a hex escape that is none', '[{"vin":"\\u00^zz"}]'],
    ['a comment', '[^/* none */]'],
    ['a space that JSON does not know', '[^\u00a0{"id":1}]'],
    ['a form feed between tokens', '[^\f{"id":1}]'],
    ['a closing bracket for a brace', '{"data":[{"id":1^]}'],
    ['a closing brace for a bracket', '{"data":[{"id":1}^}'],
    ['garbage behind the page', '{"data":[]}^x'],
    ['a zero byte behind the page', '{"data":[]}^\0'],
    ['two pages', '{"data":[]}\n^{"data":[]}'],
    ['a text instead of a page', '^"data"'],
    ['a number instead of a page', '^12'],
    ['a page of HTML', '^<html><body>502</body></html>'],
  ])('are refused at the offset of the error: %s', (_, marked) => {
    const at = Buffer.from(marked.slice(0, marked.indexOf('^'))).length;
    const text = marked.replace('^', '');
    expect(parsed(text)).toBeUndefined();
    for (const size of [1, 2, 5, 1000]) {
      const failure = failureOf(cut(Buffer.from(text), [size]));
      expect(failure).toBeInstanceOf(ScanError);
      expect(String(failure)).toContain(`malformed JSON at byte ${at},`);
    }
  });

  it('are refused at the offset in the whole body, however many bytes came before', () => {
    const head = `[${'{"id":1},'.repeat(200_000)}`;
    const failure = failureOf(cut(Buffer.from(`${head}{"id":x}]`), [65_536]));
    expect(String(failure)).toContain(`malformed JSON at byte ${head.length + 6}, in record 200000`);
  });
});

describe('the scanner and JSON.parse', () => {
  it('agree on every page with one byte changed, added or taken away', () => {
    const interesting = [
      ...Buffer.from('"\\{}[],: \n\t\0'),
      ...Buffer.from('0123456789-+.eEnulltruefabcdu/'),
      0xc3,
    ];
    const change = fc.record({
      place: fc.nat(),
      byte: fc.oneof(fc.constantFrom(...interesting), fc.integer({ min: 0, max: 255 })),
      kind: fc.constantFrom('replace', 'insert', 'remove', 'swap', 'none'),
    });
    const seen = { accepted: 0, refused: 0 };
    fc.assert(
      fc.property(tokenPage, spaces, change, fc.integer({ min: 1, max: 50 }), (page, gaps, change, size) => {
        const bytes = [...Buffer.from(spaced(page.page, gaps))];
        const at = change.place % bytes.length;
        if (change.kind === 'replace') bytes[at] = change.byte;
        if (change.kind === 'insert') bytes.splice(at, 0, change.byte);
        if (change.kind === 'remove') bytes.splice(at, 1);
        if (change.kind === 'swap') bytes.splice(at, 2, ...bytes.slice(at, at + 2).reverse());
        const body = Buffer.from(bytes);
        // A page whose first member is named by a number is a list in the form of an object.
        fc.pre(!/^\s*\{\s*"\d+"/.test(body.toString()));
        const expected = parsed(new TextDecoder('utf-8', { ignoreBOM: true }).decode(body));
        const failure = failureOf(cut(body, [size]));
        if (expected === undefined) {
          seen.refused++;
          expect(failure).toBeInstanceOf(ScanError);
        } else {
          seen.accepted++;
          expect(failure).toBeUndefined();
          const { scan, lines } = scanChunks([body]);
          expect(scan.hasData ? scan.records : null).toBe(expected.records);
          expect(lines.split('\n').length - 1).toBe(expected.records ?? 0);
        }
      }),
      { numRuns: 1500 },
    );
    expect(Math.min(seen.accepted, seen.refused)).toBeGreaterThan(150);
  });

  it('agree on any text of the characters of JSON', () => {
    const unit = fc.constantFrom(...'{}[]:,"\\ -0123.eE', 'null', 'true', '"a"', '"data":', '{"data":[');
    fc.assert(
      fc.property(fc.array(unit, { maxLength: 12 }), fc.constantFrom('[', '{"data":['), (units, head) => {
        for (const text of [units.join(''), head + units.join(''), `[[${units.join('')}]]`]) {
          const accepted = failureOf([Buffer.from(text)]) === undefined;
          expect([text, accepted]).toEqual([text, parsed(text) !== undefined]);
        }
      }),
      { numRuns: 600 },
    );
  });
});
