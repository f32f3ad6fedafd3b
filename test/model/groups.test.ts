import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { runDataTests } from '../../src/core/model/data-tests.js';
import { withOwnSeeds } from '../../src/core/model/model-files.js';
import { damageFactors, titles } from '../../src/sandbox/data/market.js';
import { createWorld } from '../../src/sandbox/index.js';
import { plantedLots } from '../sandbox/planted.js';
import { recordsOf } from '../served.js';
import { base, lot } from './cases.js';
import {
  computeMarts,
  computeModels,
  type Given,
  modelsOf,
  openLake,
  type TestLake,
  testsOf,
  texts,
} from './support.js';

let lake: TestLake;
beforeAll(async () => {
  lake = await openLake();
});
afterAll(() => lake.close());

const CHECK = 'names_are_mapped';
const MARTS = ['dim_damages', 'dim_titles', 'lot_groups'];

const damaged = (names: readonly (string | null)[]) =>
  names.map((damage_main_name, i) => lot({ lot_id: i + 1, damage_main_name }));

const titled = (titles: readonly (readonly [string | null, string | null])[]) =>
  titles.map(([title_name, detailed_title_name], i) =>
    lot({ lot_id: i + 1, title_name, detailed_title_name }),
  );

/** Rows that the check of unmapped names returns. */
async function unmapped() {
  const results = await runDataTests(lake.connection, testsOf(...MARTS));
  return results.find(({ test }) => test === CHECK)?.failures;
}

const DAMAGES: readonly (readonly [string, readonly (string | null)[]])[] = [
  ['front', ['Front', 'Front End', 'FRONT END DAMAGE', ' Fe ', 'Left Front']],
  ['rear', ['Rear', 'Rear End', 'Re', 'Rear End Damage']],
  ['hail', ['Hail', 'Hail Damage']],
  ['water', ['Flood', 'Water/Flood', 'Water/Flood Damage', 'Salt Water']],
  ['burn', ['Burn-Engine', 'Burn - Engine', 'Burn - Engine Damage', 'Engine Fire']],
  ['vandalism', ['Theft', 'Vandalized', 'Stripped Damage']],
  ['unknown', ['Unknown', 'Damage History', ' ', null]],
  ['unmapped', ['Hc/Ki', 'Zx']],
];

it('groups damages in any spelling', async () => {
  const named = DAMAGES.flatMap(([group, names]) => names.map((name) => [group, name] as const));
  await computeMarts(lake, { ...base, lots: damaged(named.map(([, name]) => name)) }, ...MARTS);
  const found = await texts(lake, 'select damage_main_group from lot_groups order by lot_id');
  expect(found.map((row, i) => [row.damage_main_group, named[i]?.[1]])).toEqual(named);
});

const TITLES: readonly (readonly [string, string | null, string | null])[] = [
  ['salvage', 'St - Salvage Title', null],
  ['salvage', 'St - Salvage Title', 'In - Cert Of Title-Salvage Title'],
  ['rebuilt', 'Rs - Clean Title', 'Az - Cert Of Title-Restored Salvage'],
  ['rebuilt', null, 'Oh - Rebuilt Salvage'],
  ['clean', 'Ct - Clean Title', 'Tx - Certificate Of Title'],
  ['clean', 'Ct - Clean Title', 'AL - Bill Of Sale'],
  ['non_repairable', 'Non-Repairable', 'Ga - Certificate Of Destruction'],
  ['non_repairable', null, 'AL -  Junk Receipt'],
  ['parts_only', ' Parts Only', ' parts only bill of sale'],
  ['export', 'Export Only', null],
  ['unknown', 'Permit', 'On - Vehicle Permit'],
  ['unknown', null, ' '],
  ['unmapped', 'Qx 12', null],
];

it('brands titles by the detailed title if that decides', async () => {
  await computeMarts(lake, { ...base, lots: titled(TITLES.map(([, ...names]) => names)) }, ...MARTS);
  const found = await texts(lake, 'select title_brand from lot_groups order by lot_id');
  expect(found.map(({ title_brand }, i) => [title_brand, ...(TITLES[i]?.slice(1) ?? [])])).toEqual(TITLES);
});

const PLACES: readonly (readonly [string, string, Given])[] = [
  ['US', 'TX', { location_country_iso: ' us', location_state_code: 'tx ' }],
  ['US', 'TX', { location_country_iso: null, location_country_name: 'Usa', location_state_name: 'texas' }],
  ['CA', 'NL', { location_country_iso: 'CAN', location_state_code: '', location_state_name: 'Newfoundland' }],
  ['KR', '11', { location_country_iso: 'kr', location_state_name: 'Seoul' }],
  ['KR', 'unknown', { location_country_iso: null, location_country_name: 'kr' }],
  ['US', 'QC', { location_country_iso: 'us', location_state_code: 'qc' }],
  ['ZZ', 'TX', { location_country_iso: 'zz', location_state_code: 'TX' }],
  ['unknown', 'TX', { location_country_iso: '', location_state_code: 'TX' }],
];

it('finds country and state by code and by name', async () => {
  const lots = PLACES.map(([, , place], i) => lot({ lot_id: i + 1, ...place }));
  await computeMarts(lake, { ...base, lots }, ...MARTS);
  const found = await texts(lake, 'select country_code, state_code from lot_groups order by lot_id');
  expect(found).toEqual(PLACES.map(([country_code, state_code]) => ({ country_code, state_code })));
});

const SELLERS: readonly (readonly [string, Given])[] = [
  ['insurance', { seller_type_id: 1, seller_is_rental: true }],
  ['insurance', { seller_type_id: 2, seller_is_insurance: true }],
  ['insurance', { seller_type_name: ' Insurance Company' }],
  ['rental', { seller_type_id: 2, seller_is_insurance: false, seller_is_rental: true }],
  ['finance', { seller_is_credit_company: true }],
  ['non_insurance', { seller_type_id: 2 }],
  ['non_insurance', { seller_type_name: 'Non-Insurance' }],
  ['dealer', { seller_type_name: 'Dealership' }],
  ['unknown', { seller_type_name: ' ' }],
  ['unmapped', { seller_type_name: 'Circus' }],
];

it('groups sellers by their type and by the description of the seller', async () => {
  const lots = SELLERS.map(([, seller], i) => lot({ lot_id: i + 1, ...seller }));
  await computeMarts(lake, { ...base, lots }, ...MARTS);
  const found = await texts(lake, 'select seller_group from lot_groups order by lot_id');
  expect(found).toEqual(SELLERS.map(([seller_group]) => ({ seller_group })));
});

it.each([
  ['country', { location_country_iso: 'zz' }],
  ['state', { location_state_code: 'qc' }],
  ['type of seller', { seller_type_name: 'Circus' }],
])('a %s that no seed knows is an alarm', async (_, unknown) => {
  await computeMarts(lake, { ...base, lots: [lot({}), lot({ lot_id: 2, ...unknown })] }, ...MARTS);
  expect(await unmapped()).toBe(1);
});

it('an alarm is raised if no seed knows the names of more than 2 % of the named lots', async () => {
  const known = [...Array(98).fill('Rear'), null, null];
  await computeMarts(lake, { ...base, lots: damaged([...known, 'Zx']) }, ...MARTS);
  expect(await unmapped()).toBe(0);
  await computeMarts(lake, { ...base, lots: damaged([...known, 'Zx', 'Zy', 'Zy']) }, ...MARTS);
  expect(await unmapped()).toBe(1);
});

it('a seed of the user overrides the group', async () => {
  const seeds = join(lake.folder, 'seeds');
  mkdirSync(seeds);
  writeFileSync(join(seeds, 'damage_groups.csv'), 'damage_name,damage_group\nzx damage,glass\n');
  await computeMarts(lake, { ...base, lots: damaged(['Zx', 'Rear']) }, ...MARTS);
  const models = withOwnSeeds(modelsOf(MARTS), seeds);
  await computeModels(lake, models);
  expect(
    await texts(lake, 'select damage_name, damage_group from dim_damages where main_lots > 0 order by 1'),
  ).toEqual([
    { damage_name: 'Rear', damage_group: 'unmapped' },
    { damage_name: 'Zx', damage_group: 'glass' },
  ]);
});

it('each damage group and each brand has one factor in the planted market of the sandbox', async () => {
  const world = createWorld({ vehicles: 1000 });
  const planted = [...plantedLots(world)];
  const ids = [...new Set(planted.map(({ vehicleId }) => vehicleId))];
  const shown = new Map(
    recordsOf(world, ids).flatMap(({ lots }) => lots.map((record) => [record.id, record] as const)),
  );
  const factors = new Map(titles.map(({ id, factor }) => [id, factor]));
  const lots = planted.map(({ lotId, facts }) => {
    const record = shown.get(lotId);
    return lot({
      lot_id: lotId,
      damage_main_name: record?.damage?.main?.name ?? null,
      title_name: record?.title?.name ?? null,
      detailed_title_name: record?.detailed_title?.name ?? null,
      buy_now: damageFactors.get(facts.damage ?? 2) ?? null,
      final_bid: factors.get(facts.title ?? 0) ?? 1,
    });
  });
  await computeMarts(lake, { ...base, lots }, ...MARTS);
  const several = await texts(
    lake,
    `select damage_group as thing, count(distinct buy_now) as factors from lots
    inner join dim_damages on damage_name = coalesce(trim(damage_main_name), 'unknown') group by 1
    union all
    select title_brand, count(distinct final_bid) from lots
    inner join dim_titles on dim_titles.title_name = coalesce(trim(lots.title_name), 'unknown')
      and dim_titles.detailed_title_name = coalesce(trim(lots.detailed_title_name), 'unknown')
    group by 1 order by 1`,
  );
  expect(several.map(({ thing }) => thing)).toContain('rebuilt');
  expect(several.filter(({ factors }) => factors !== 1)).toEqual([]);
});
