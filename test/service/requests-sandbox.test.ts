import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Plan, type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { enumerations } from '../../src/service/contract/enumerations.js';
import { requests } from '../../src/service/requests/registry.js';
import type { ServiceRequest } from '../../src/service/requests/service-request.js';

type Name = keyof typeof requests;
type Given = Readonly<Record<string, unknown>>;
type Shape = Readonly<Record<string, fc.Arbitrary<unknown>>>;

const plans: readonly Plan[] = ['demo', 'small', 'unlimited'];

let sandboxes: Readonly<Record<Plan, Sandbox>>;
beforeAll(async () => {
  const start = (plan: Plan): Promise<Sandbox> => startSandbox({ vehicles: 40, plan, requestsPerDay: null });
  const [demo, small, unlimited] = await Promise.all([start('demo'), start('small'), start('unlimited')]);
  sandboxes = { demo, small, unlimited };
});
afterAll(() => Promise.all(plans.map((plan) => sandboxes[plan].close())));

interface Got {
  readonly status: number;
  readonly text: string;
}

/** Sends a request as the client does: a list is a repeated name. */
async function send({ path, query }: ServiceRequest, plan: Plan = 'unlimited'): Promise<Got> {
  const { url, apiKey } = sandboxes[plan];
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query))
    for (const one of [value].flat()) if (one !== undefined) search.append(name, String(one));
  const headers = { 'x-api-key': apiKey, 'accept-encoding': 'identity' };
  const answer = await fetch(`${url}${path}?${search}`, { headers });
  return { status: answer.status, text: await answer.text() };
}

const id = fc.oneof(fc.nat({ max: 30 }), fc.nat(), fc.constant(999_999_999_999_999));
const text = fc
  .oneof(
    fc.string({ unit: 'binary', minLength: 1 }),
    fc.constantFrom('a', '..', '.', '%2e', '/', '_1', 'R&D', '+', '[]', '../x'),
  )
  .filter((value) => value.trim() !== '');
const segment = text.filter((value) => value !== '.' && value !== '..');
const upTo = (most: number) => fc.oneof(fc.integer({ min: 1, max: most }), fc.constant(most));
const idOf = (values: Readonly<Record<number, string>>) =>
  fc.constantFrom(...Object.keys(values).map(Number));
const idList = fc.oneof(id, fc.array(id, { minLength: 1, maxLength: 4 }));
const minutes = upTo(4320);
const page = fc.oneof(
  upTo(12),
  id.map((value) => value + 1).filter((value) => value < 1e15),
);
const moment = fc
  .date({ min: new Date('1970-01-01'), max: new Date('2100-01-01'), noInvalidDate: true })
  .map((date) => date.toISOString().slice(0, 19));
const each = (names: string, arbitrary: fc.Arbitrary<unknown>): Shape =>
  Object.fromEntries(names.split(' ').map((name) => [name, arbitrary]));

/** Any of some parameters. */
const any = (shape: Shape): fc.Arbitrary<Given> => fc.record(shape, { requiredKeys: [] });

/** A few of many parameters. */
const few = (shape: Shape): fc.Arbitrary<Given> =>
  fc
    .subarray(Object.entries(shape), { maxLength: 7 })
    .chain((chosen) => fc.record(Object.fromEntries(chosen)));

const all = (...parts: readonly fc.Arbitrary<Given>[]): fc.Arbitrary<Given> =>
  fc.tuple(...parts).map((given) => Object.assign({}, ...given));

const filters: Shape = {
  domain_id: idOf(enumerations.domain),
  minutes,
  manufacturer_id: idList,
  ...each('model_id generation_id from_year to_year year cylinders next_hours_auction sale_date_in_days', id),
  ...each('odometer_from_km odometer_to_km odometer_from_mi odometer_to_mi', id),
  ...each('buy_now_price_from buy_now_price_to bid_price_from bid_price_to', id),
  ...each('buy_now without_sale_date exclude_expired_auctions', fc.boolean()),
  ...each('vin name engine_name search_query document_title damage', text),
  ...each('country state_code', fc.constantFrom('US', 'ca', 'Kr', 'FL', 'zz')),
  ...each('sale_date_from sale_date_to', moment),
  vehicle_type: idOf(enumerations.vehicle_type),
  body_type: idOf(enumerations.body_type),
  color: idOf(enumerations.color),
  transmission: idOf(enumerations.transmission),
  drive_wheel: idOf(enumerations.drive_wheel),
  fuel_type: idOf(enumerations.fuel),
  condition: idOf(enumerations.condition),
};
const searchFilters: Shape = {
  ...filters,
  seats: id,
  ...each('has_inspections has_history_reports', fc.boolean()),
  ...each('listings[].has_history_reports listings[].is_manufacturer_certified', fc.boolean()),
};
const statusId = idOf(enumerations.lot_status);
const statuses: fc.Arbitrary<Given> = fc.oneof(
  fc.constant({}),
  fc.record({ status: statusId }),
  fc.record({ 'status[]': fc.array(statusId, { minLength: 1, maxLength: 4 }) }),
);
const simple: Shape = { simple_paginate: fc.boolean() };
const prices: Shape = { prices_history: fc.boolean() };
const ordered: Shape = { ...prices, sortDirection: fc.constantFrom('asc', 'desc') };
const cars = fc.constantFrom('cars', 'motorcycles');

/** Parameters that keep every limit of an endpoint, on a plan. */
function valid(plan: Plan): Readonly<Record<Exclude<Name, 'carsScrollNext'>, fc.Arbitrary<Given>>> {
  const most = (unlimited: number, small: number, demo = small): number => ({ unlimited, small, demo })[plan];
  const sized = any({ ...ordered, ...simple, page, per_page: upTo(most(1000, 50)) });
  const inWindow = sized.filter((given) => Number(given.page ?? 1) * Number(given.per_page ?? 50) <= 10_000);
  const catalog = any({ type: fc.oneof(cars, fc.constant('all')), page });
  const scroll = fc.record(
    { ...ordered, limit: upTo(most(2000, 50)), scroll_time: upTo(15) },
    { requiredKeys: ['limit'] },
  );
  const numbers = each('model_id generation_id engine_id year', id);
  return {
    cars: all(few(filters), statuses, sized),
    carsScroll: all(few(filters), statuses, scroll),
    search: all(few(searchFilters), statuses, inWindow),
    searchCount: all(few(searchFilters), statuses),
    car: all(fc.record({ car_id: id }), any(prices)),
    listing: all(fc.record({ domain_id: idOf(enumerations.domain), listing_id: segment }), any(prices)),
    searchVin: all(fc.record({ vin: segment }), any(prices)),
    searchLot: all(
      fc.record({ lot: segment }),
      any(prices),
      fc.oneof(
        any({ domain: fc.constantFrom(1, 'iaai_com'), search_by_id: fc.boolean() }),
        any({ domain: fc.constantFrom(3, 12, 'copart_com', 'encar_com'), search_by_id: fc.constant(false) }),
      ),
    ),
    archivedLots: any({ minutes, page, per_page: upTo(most(1000, 100)), ...simple }),
    statistics: any({
      ...numbers,
      manufacturer_id: idList,
      page,
      per_page: upTo(most(500, 500, 10)),
      ...simple,
    }),
    manufacturers: catalog,
    models: all(fc.record({ manufacturer_id: id }), catalog),
    generations: all(fc.record({ model_id: id }), any({ type: cars, page })),
    damages: any({ page }),
    states: any({ country: fc.constantFrom('us', 'ca'), page }),
    cities: all(fc.record({ state_id: id }), any({ page })),
    titles: any({ page }),
    koreaDuplicates: any({ minutes, lot: id, page, per_page: upTo(5000) }),
    koreaOptions: fc.constant({}),
  };
}

const isName = (name: string): name is Name => name in requests;

/** How many requests the property sends to an endpoint on each plan. */
const runsOf = (name: string): number => (/^(cars|carsScroll|search|searchCount)$/.test(name) ? 80 : 25);

describe('a request within its limits', () => {
  it.each(plans)('is never a bad one to the sandbox, with a key of the %s plan', async (plan) => {
    for (const [name, parameters] of Object.entries(valid(plan))) {
      if (!isName(name)) expect.fail(name);
      const answered = async (given: Given): Promise<void> => {
        const got = await send(requests[name].from(given, { plan }), plan);
        expect([200, 404], got.text).toContain(got.status);
        expect(got.text).not.toContain('route not found');
      };
      await fc.assert(fc.asyncProperty(parameters, answered), { numRuns: runsOf(name) });
    }
  });

  it('goes on with a scroll', async () => {
    const first = await send(requests.carsScroll({ limit: 10 }));
    const { scroll_id } = JSON.parse(first.text);
    const next = await send(requests.carsScrollNext({ scroll_id, scroll_time: 15 }));
    expect(JSON.parse(next.text).data).toHaveLength(10);
    expect(next.text).not.toBe(first.text);
  });

  it('finds what the world has', async () => {
    const { world } = sandboxes.unlimited;
    const [car = 0] = world.activeIds();
    const { lot, domain } = JSON.parse(world.vehicleJson(car) ?? '').lots[0];
    for (const request of [
      requests.car({ car_id: car }),
      requests.listing({ domain_id: domain.id, listing_id: lot }),
      requests.searchLot({ lot, domain: domain.id, prices_history: true }),
      requests.searchLot({ lot }),
    ])
      expect([request.path, (await send(request)).status]).toEqual([request.path, 200]);
  });

  it('sends each status of a list', async () => {
    const ids = Object.keys(enumerations.lot_status).map(Number);
    const countOf = async (status: readonly number[]): Promise<number> =>
      JSON.parse((await send(requests.searchCount({ 'status[]': status }))).text).count;
    expect(await countOf(ids)).toBe(sandboxes.unlimited.world.activeIds().length);
    expect(await countOf(ids.slice(0, 3))).toBeGreaterThan(await countOf(ids.slice(0, 1)));
  });
});
