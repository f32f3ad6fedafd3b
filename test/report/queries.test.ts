import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openTemporarySession, type TemporarySession } from '../../src/duck/session.js';
import { ask } from '../../src/report/query.js';

let opened: TemporarySession;
beforeAll(async () => {
  opened = await openTemporarySession({ memory: '500MB', threads: 1 });
});
afterAll(() => opened.close());

describe('events of history reports', () => {
  it('are told apart by their sources, also those of a report that names none', async () => {
    const { connection } = opened.session;
    await connection.run(`
      create table runs as select 2 as minimum_group, now() as started_at;
      create table check_breakdown as select 12 as domain_id, 'encar_com' as domain_name;
      create table claim_history as
      select unnest([12, 12, 12, null, null]) as domain_id, 'insurance_claim' as type_key, 'krw' as currency,
        100 as amount_total`);
    const found = await ask(connection, 'history_events');
    expect(found.map(({ source, apart, events }) => [source, apart, Number(events)])).toEqual([
      ['encar_com', 'encar_com', 3],
      ['source not given', 'source not given', 2],
    ]);
  });
});
