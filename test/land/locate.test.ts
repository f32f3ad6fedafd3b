import { describe, expect, it, vi } from 'vitest';
import { contractOf } from '../../src/core/service/contract/node.js';
import { schemas } from '../../src/core/service/contract/records.js';
import { locate, type RecordPath } from '../../src/core/service/scan/locate.js';
import { ValueScanner } from '../../src/core/service/scan/walker/scan-values.js';

const contract = contractOf(schemas.vehicle);

const textsAt = (record: string, ...paths: RecordPath[]): (string | undefined)[] =>
  locate(Buffer.from(record), paths, contract).map((span) =>
    span === undefined ? undefined : Buffer.from(record).toString('utf8', ...span),
  );

describe('values of a record', () => {
  it.each([
    [['a'], '1'],
    [['b', 1, 'c'], '"]}"'],
    [['b', 1], '{"c":"]}"}'],
    [['b'], '[{},{"c":"]}"}]'],
    [['b', 0, 'c'], undefined],
    [['b', 2], undefined],
    [['b', 'c'], undefined],
    [['a', 'c'], undefined],
    [['ü'], '[[]]'],
    [['ü', 0, 0], undefined],
    [['e'], '{}'],
    [[], '{"a":1,"b":[{},{"c":"]}"}],"\\u00fc":[[]],"e":{}}'],
  ] satisfies [RecordPath, string | undefined][])('are found at %j', (path, text) => {
    const record = '{"a":1,"b":[{},{"c":"]}"}],"\\u00fc":[[]],"e":{}}';
    expect(textsAt(record, path)).toEqual([text]);
    expect(textsAt(record, ['a'], path, ['b', 1], ['e'])[1]).toBe(text);
  });

  it('are found in one walk over the record, however many there are', () => {
    const step = vi.spyOn(ValueScanner.prototype, 'skip');
    const work = (values: number): number => {
      step.mockClear();
      const record = `{"lots":[${Array.from({ length: values }, (_, i) => `{"id":${i},"bid":"x"}`).join(',')}]}`;
      const paths = Array.from({ length: values }, (_, i): RecordPath => ['lots', i, 'bid']);
      expect(textsAt(record, ...paths)).toEqual(paths.map(() => '"x"'));
      return step.mock.calls.length;
    };
    const few = work(100);
    expect(work(400)).toBeLessThanOrEqual(4 * few);
    step.mockRestore();
  });
});
