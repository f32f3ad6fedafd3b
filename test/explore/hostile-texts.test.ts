import { expect, it } from 'vitest';
import { createWorld } from '../../src/sandbox/index.js';
import { temporaryFolder } from '../pipelines/support.js';
import { nightOf } from '../report/lake.js';
import { recordsOf } from '../served.js';
import { openExplore } from './server.js';

const clock = new Date('2026-11-20T04:00:00Z');

it('texts of the feed with markup are text on every page', async () => {
  const other = temporaryFolder();
  const markup = `\u202e\u0007\u2066<script>alert(1)</script>"'><img src=x onerror=alert(1)>`;
  /** Puts markup behind every text of a record that is a name and no date, number, key or address. */
  const spoil = (value: unknown, key = ''): unknown => {
    if (Array.isArray(value)) return value.map((each) => spoil(each, key));
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, spoil(inner, name)]));
    const isName = /(name|title|note|description|label|raw|notes|clarification|number|line|lot)$/.test(key);
    return typeof value === 'string' && isName && !/_key$/.test(key) ? `${value}${markup}` : value;
  };
  await nightOf(
    other.path,
    recordsOf(createWorld({ vehicles: 60 })).map((record) => spoil(record)),
    clock,
  );
  const spoilt = await openExplore(other.path);
  try {
    const list = await spoilt.text('/lots');
    const cars = await spoilt.text('/sql?q=select+distinct+vehicle_id+from+lots+limit+60');
    const ids = [...cars.matchAll(/<th scope="row"[^>]*>(\d+)</g)].map(([, id]) => id);
    expect(ids.length).toBeGreaterThan(20);
    const pages = [
      list,
      ...(await Promise.all(
        [
          '/tables',
          '/runs',
          '/searches',
          '/report',
          '/sql?q=from+lots',
          '/sql?q=from+vehicles',
          '/tables/lots.html?facts=1',
          '/marts/lots_on_offer.html?by=seller_name',
          `/lots?${new URLSearchParams({ make: markup, seller: markup })}`,
          `/compare?${new URLSearchParams({ kind: 'make', of: markup })}`,
          '/value',
          `/value?${new URLSearchParams({ make: `Toyota${markup}`, model: `Camry${markup}`, year: '2019' })}`,
          `/searches?${new URLSearchParams({ make: markup })}`,
        ].map(spoilt.text),
      )),
    ];
    for (const id of ids) pages.push(await spoilt.text(`/car/${id}`));
    const all = pages.join('\n');
    expect(all).toContain('&lt;script&gt;alert(1)');
    expect(all).not.toMatch(/<script>alert|<img src=x/);
    // Nothing turns the text around it, but in the field of the reader's own query.
    expect(all.replaceAll(/<textarea.*?<\/textarea>/gs, '')).not.toMatch(
      /[\u0007\u202a-\u202e\u2066-\u2069]/,
    );
  } finally {
    await spoilt.close();
    other.remove();
  }
});
