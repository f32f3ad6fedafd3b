import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { packageRoot } from '../../../src/base/config/package-root.js';
import { carCosts, mostToBid, partsAt, totalAt, wayTo } from '../../../src/core/model/costs/landing.js';
import { readCosts } from '../../../src/core/model/costs/read-tables.js';
import { scheduleOf } from '../../../src/core/model/costs/schedule.js';
import { need } from '../../served.js';
import { BASE, BROKEN, type Broken } from './broken.js';
import { compareLots, removeWritten, written } from './compare.js';

afterAll(removeWritten);

it('what lots cost by random tables is what the oracle says, and so is the most to bid', {
  timeout: 120_000,
}, () => {
  const count = compareLots(800);
  for (const [what, times] of Object.entries(count)) expect(times, what).toBeGreaterThan(4);
});

describe('tables of costs', () => {
  it('that are right are read', () => {
    expect(readCosts(written(BASE)).length).toBeGreaterThan(20);
    expect(readCosts(join(packageRoot, 'site', 'costs')).length).toBeGreaterThan(60);
  });

  /** What a run says of tables. */
  function saidOf({ files, without = [], encoding }: Broken): { message: string; hint: string | undefined } {
    const kept = Object.entries(BASE).filter(([name]) => !without.includes(name));
    const place = written(Object.fromEntries(kept));
    for (const [name, text] of Object.entries(files))
      writeFileSync(join(place, name), text, encoding ?? 'utf8');
    try {
      readCosts(place);
    } catch (error) {
      const { code, message, hint } = error as { code?: string; message: string; hint?: string };
      expect(code).toBe('CONFIG_INVALID');
      return { message, hint };
    }
    return { message: 'nothing', hint: undefined };
  }

  it.each(BROKEN.map((broken) => [broken.what, broken] as const))(
    'are refused with a clear error: %s',
    (_, broken) => {
      const { message, hint } = saidOf(broken);
      expect(message).toContain(broken.file);
      if (broken.line !== null) expect(message).toContain(`line ${broken.line} of `);
      expect(`${message} ${hint}`).toMatch(broken.says);
      expect(hint?.length).toBeGreaterThan(10);
    },
  );
});

it('a size in repairs.csv alone asks for no size of a lot', () => {
  const repairs = (size: string) => ({
    ...{ table: 'repairs' as const, line: 2 },
    values: { damage: 'front', title: '*', size, amount: '1', currency: 'USD' },
  });
  expect(scheduleOf([repairs('large')], '2026-11-30').needsSize).toBe(false);
  expect(scheduleOf([{ ...repairs('large'), table: 'charges' }], '2026-11-30').needsSize).toBe(true);
});

describe('the example of docs/ask/costs.md', () => {
  const page = readFileSync(join(packageRoot, 'docs', 'ask', 'costs.md'), 'utf8');
  const shown = (cents: number): string =>
    (cents / 100).toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
  const schedule = scheduleOf(readCosts(join(packageRoot, 'site', 'costs')), '2026-11-30');
  const warsaw = need(
    schedule.destinations.find(({ isDefault }) => isDefault),
    'the default destination',
  );
  const car = {
    ...{ source: 1, currency: 'USD', branch: null, postal: null, state: 'IL', title: 'salvage' },
    ...{ vehicleType: 'automobile', bodyType: 'sedan', fuel: 'gasoline', cm3: 2500, year: 2019 },
  };
  const costs = carCosts(schedule, car, warsaw);
  const way = wayTo(schedule, car, costs.size, warsaw);

  it('has each part and the total as they are computed', () => {
    const rows = [...page.matchAll(/^\| (?<part>[^|]+) \|[^|]*\| (?<amount>[\d,.]+ *) \|$/gm)].map(
      ({ groups }) => ({ part: groups?.part?.trim(), amount: groups?.amount?.trim() }),
    );
    const parts = partsAt(costs, way, 435_200).map(({ part, name, converted }) => ({
      part: part === 'price' || part === 'inland' || part === 'ocean' ? part : name,
      amount: shown(converted),
    }));
    expect(rows).toEqual(parts);
    expect(page).toContain(`**${shown(totalAt(costs, way, 435_200))}**`);
  });

  it('has the most to bid, and what it and a cent more cost', () => {
    const most = need(mostToBid(costs, way, 6_350_000), 'a bid');
    expect(page).toContain(
      `the most to bid is ${shown(most)} USD: it costs ${shown(totalAt(costs, way, most))} PLN, and a cent more ${shown(totalAt(costs, way, most + 1))}.`,
    );
  });
});
