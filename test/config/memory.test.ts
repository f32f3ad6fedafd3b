import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/base/config/config.js';
import { defaultMemory, memoryHere, parseBytes } from '../../src/base/config/memory.js';

const configured = (amount: string) =>
  readConfig({}, { env: { LOTLAKE_MEMORY: amount }, cwd: mkdtempSync(join(tmpdir(), 'lotlake-test-')) });

describe('memory', () => {
  it('is a quarter of the memory of the machine, within bounds', () => {
    expect(defaultMemory(1e9)).toBe('700MB');
    expect(defaultMemory(8e9)).toBe('2000MB');
    expect(defaultMemory(64e9)).toBe('4000MB');
    expect(configured('').memory).toBe(defaultMemory(memoryHere()));
  });

  it('is the configured amount, unless a night needs more', () => {
    expect(configured('1.5GiB').memory).toBe('1.5GiB');
    for (const amount of ['699MB', '0.5GB', '10KB']) expect(() => configured(amount)).toThrow(/700 MB/);
  });

  it('is parsed in every unit', () => {
    const amounts = { '700MB': 7e8, '1.5 GB': 1.5e9, '2KiB': 2048, '1gib': 2 ** 30, '3': 3 };
    for (const [text, bytes] of Object.entries(amounts)) expect(parseBytes(text)).toBe(bytes);
    for (const text of ['', 'much', '5TB', '-1MB', '1e9']) expect(parseBytes(text)).toBeNaN();
  });
});
