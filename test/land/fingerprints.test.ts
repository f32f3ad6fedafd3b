import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { FINGERPRINTS } from '../../src/core/lake/ids.js';
import {
  Fingerprints,
  readFingerprints,
  writeFingerprints,
} from '../../src/core/lake/passes/fingerprints.js';
import { temporaryFolder } from '../pipelines/support.js';

const id = fc.integer({ min: 0, max: 30 });
const pair = fc.tuple(id, fc.bigInt({ min: 1n, max: 2n ** 64n - 1n }));
const pairs = fc.array(pair, { maxLength: 40 });

function logOf(given: readonly (readonly [number, bigint])[]): Fingerprints {
  const log = new Fingerprints();
  for (const [vehicle, hash] of given) log.add(vehicle, hash);
  return log.sorted();
}

const mapOf = ({ ids, hashes }: Fingerprints) => new Map([...ids].map((vehicle, i) => [vehicle, hashes[i]]));

/** What a plain map keeps of such pairs. A vehicle with two different hashes has no entry. */
function kept(given: readonly (readonly [number, bigint])[]): Map<number, bigint> {
  const out = new Map<number, bigint>();
  for (const [vehicle, hash] of given)
    if (given.every(([other, theirs]) => other !== vehicle || theirs === hash)) out.set(vehicle, hash);
  return out;
}

describe('fingerprints', () => {
  it('keep one hash for each vehicle, and none for a vehicle with two', () => {
    fc.assert(
      fc.property(pairs, pair, (given, [vehicle, hash]) => {
        const prints = logOf(given);
        expect(mapOf(prints)).toEqual(kept(given));
        expect([...prints.ids]).toEqual([...prints.ids].sort((a, b) => a - b));
        for (const [known, print] of kept(given)) expect(prints.has(known, print)).toBe(true);
        expect(prints.has(vehicle, hash)).toBe(kept(given).get(vehicle) === hash);
        expect(prints.has(Number.NaN, hash)).toBe(false);
      }),
    );
  });

  it('leave out a vehicle with a record that has no hash', () => {
    const log = new Fingerprints();
    for (const vehicle of [1, 2, 3]) log.add(vehicle, 9n);
    log.addAll(
      logOf([
        [2, 9n],
        [4, 9n],
      ]).unknownWhere(() => true),
    );
    expect(mapOf(log.sorted())).toEqual(
      new Map([
        [1, 9n],
        [3, 9n],
      ]),
    );
  });

  it('merge like maps: the later hash wins, and stale ones are left out', () => {
    fc.assert(
      fc.property(pairs, pairs, fc.uniqueArray(id), (earlier, later, without) => {
        const stale = Float64Array.from(without).sort();
        const expected = new Map([...kept(earlier)].filter(([vehicle]) => !without.includes(vehicle)));
        for (const [vehicle, hash] of kept(later)) expected.set(vehicle, hash);
        expect(mapOf(logOf(earlier).without(stale).updated(logOf(later)))).toEqual(expected);
      }),
    );
  });

  it('are read back as written, and never from a truncated file', () => {
    const folder = temporaryFolder();
    try {
      const prints = logOf([
        [7, 2n ** 64n - 1n],
        [3, 1n],
      ]);
      writeFingerprints(folder.path, prints);
      expect(mapOf(readFingerprints(folder.path, 2))).toEqual(mapOf(prints));
      expect(readFingerprints(folder.path, 3).ids).toHaveLength(0);
      writeFileSync(join(folder.path, FINGERPRINTS), 'torn');
      expect(readFingerprints(folder.path, 2).ids).toHaveLength(0);
    } finally {
      folder.remove();
    }
  });
});
