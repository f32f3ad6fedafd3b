/** Compares the sales that a lake trusts with the sales that follow from its model. */
import { join } from 'node:path';
import { expect } from 'vitest';
import {
  attemptsOf,
  type OracleArchiving,
  type OracleLot,
  type OraclePrice,
} from '../../model/oracle-attempts.js';
import { modelsOf } from '../../model/support.js';
import type { Modelled, Values } from './knowledge.js';
import type { Stage } from './stage.js';

/** The mart of sales and the models that it reads, without checks. */
export const SALES_ALONE = {
  modelling: { models: modelsOf(['sales']), checks: [] },
};

const number = (value: unknown): number | null =>
  value === null || value === undefined ? null : Number(value);
const time = (value: unknown): number | null => (typeof value === 'string' ? Date.parse(value) : null);

/** Expects the mart of sales to have every attempt of the known lots, each with its reason and price. */
export async function expectSales({ known, duck, output, note }: Stage): Promise<void> {
  const of = (table: string): string => `'${join(output, 'lake', 'current', table, '*.parquet')}'`;
  const [run] = await duck.query(`select epoch_ms(max(started_at)) as now from ${of('runs')}`);
  const sales = await duck.query(
    // What the fit says of a price is not known here.
    `select lot_id, attempt, trust_reason, case when is_trusted then amount end as price from ${of('sales')} order by all`,
  );
  const rows = (table: Modelled): Values[] =>
    [...known.tables[table].values()].map(({ content, state }) => ({ ...content, ...state }));
  const attempts = attemptsOf({
    ...{ now: Number(run?.now), least: 5, relistingDays: 30, spans: [], vehicles: [] },
    lots: rows('lots').map((lot) => lotOf(lot, known.sightings.get(`lot ${lot.lot_id}`))),
    prices: rows('prices').map(priceOf),
    archivings: rows('archived_lots').map(archivingOf),
  });
  for (const { reason } of attempts) note(`attempts: ${reason}`);
  const expected = attempts
    .map(({ lot, attempt, reason, isTrusted, amount }) => ({
      lot_id: lot.id,
      attempt,
      trust_reason: reason,
      price: isTrusted ? amount : null,
    }))
    .sort((a, b) => a.lot_id - b.lot_id || a.attempt - b.attempt);
  expect(sales, 'sales').toEqual(expected);
}

function lotOf(lot: Values, seen: Values | undefined): OracleLot {
  return {
    ...{ id: Number(lot.lot_id), vehicle: Number(lot.vehicle_id), domain: Number(lot.domain_id) },
    ...{ country: String(lot.location_country_iso), status: number(lot.status_id) },
    ...{ saleDate: time(lot.sale_date), finalBid: number(lot.final_bid), finalBidAt: null },
    ...{ buyNow: number(lot.buy_now), archived: lot.archived === true, lastSeen: time(seen?.seen_at) },
    ...{ main: null, second: null, km: null, repair: null, before: null },
  };
}

function priceOf(price: Values): OraclePrice {
  return {
    ...{ id: Number(price.price_id), lot: Number(price.lot_id), status: number(price.status_id) },
    ...{ saleDate: time(price.sale_date), bid: number(price.bid), bidAt: null, buyNow: null },
    gone: time(price.gone_at),
  };
}

function archivingOf(archiving: Values): OracleArchiving {
  return {
    ...{
      lot: Number(archiving.lot_id),
      vehicle: Number(archiving.vehicle_id),
      domain: Number(archiving.domain_id),
      at: time(archiving.archived_at) ?? 0,
      status: number(archiving.status_id),
    },
    ...{
      saleDate: time(archiving.sale_date),
      finalBid: number(archiving.final_bid),
      finalBidAt: null,
      buyNow: null,
    },
  };
}
