/** Records of the service for tests. Only the members that some test reads have types. */
import type { World } from '../src/sandbox/index.js';

/** A value with an id and usually a name, such as a status, a source or a manufacturer. */
export interface Named {
  id: number;
  name?: string;
  [member: string]: unknown;
}

/** A country, state, city or yard. */
interface Place {
  id?: number;
  iso?: string;
  code?: string;
  name?: string;
}

/** One auction attempt in the price history of a lot. */
export interface PriceRecord {
  id: number;
  lot_id?: number;
  status: Named;
  bid: number | null;
  buy_now_price?: number | null;
  sale_date: string | null;
  final_bid_updated_at?: string | null;
  [member: string]: unknown;
}

interface ImageSet {
  id?: number;
  small?: string[] | null;
  [member: string]: unknown;
}

export interface LotRecord {
  id: number;
  lot: string;
  domain: Named;
  status: Named;
  bid: number | null;
  buy_now?: number | null;
  final_bid?: number | null;
  final_bid_updated_at?: string | null;
  seller_reserve?: { price: number } | null;
  seller?: Named | string | null;
  seller_type?: Named | string | null;
  selling_branch?: (Named & { id: number | null }) | null;
  estimate_repair_price?: number | null;
  pre_accident_price?: number | null;
  sale_date?: string | null;
  odometer: { km: number; mi: number; status?: Named } | null;
  damage?: { main: Named | null; second: Named | null };
  title?: Named | null;
  detailed_title?: Named | null;
  condition?: Named | null;
  keys_available?: boolean | null;
  location: {
    country: Place;
    state: Place | null;
    city: Place;
    location?: Place | null;
    latitude?: number | null;
    longitude?: number | null;
  };
  created_at: string;
  archived?: boolean | null;
  archived_at?: string | null;
  prices?: PriceRecord[] | null;
  images?: ImageSet | null;
  [member: string]: unknown;
}

/** One entry of a list of a report. */
interface ReportEntry {
  id: string;
  type_key?: string;
  result_key?: string;
  [member: string]: unknown;
}

/** A checked item of an inspection. */
export interface CheckedItem extends ReportEntry {
  part_key: string;
  block_key?: string;
  severity_key?: string | null;
  issue_type_keys?: string[];
  description?: string | null;
}

/** An event of a vehicle history. */
export interface HistoryEvent extends ReportEntry {
  subtype_key?: string | null;
  status_key?: string;
  occurred_at?: string | null;
  date_precision_key?: string;
  mileage_km?: number | null;
  currency?: string | null;
  amount_total?: number | null;
  amount_insurance_benefit?: number | null;
  amount_parts?: number | null;
  amount_labor?: number | null;
  amount_painting?: number | null;
}

/** An inspection or a history report of a listing of source 12; each has some of the lists. */
export interface ReportRecord {
  report_id: string;
  vehicle_ref: { domain_id: number; listing_id: string };
  created_at: string;
  system_updated_at?: string;
  language: string;
  conclusions?: { accident_status_key?: string };
  summary?: { insurance_claim_count?: number };
  checked_items?: CheckedItem[];
  checks?: (ReportEntry & { count?: number | null })[];
  events?: HistoryEvent[];
  [member: string]: unknown;
}

/** A record of `/cars`; the lots are `null` only where a test withholds them. */
export interface VehicleRecord<Lots extends LotRecord[] | null = LotRecord[]> {
  id: number;
  title: string;
  year: number;
  vin?: string | null;
  manufacturer?: Named;
  model?: Named;
  generation?: Named | null;
  engine?: Named | null;
  fuel?: Named | null;
  drive_wheel?: Named | null;
  vehicle_type?: Named;
  body_type?: Named | null;
  lots: Lots;
  listings?: { has_history_reports: boolean }[] | null;
  inspections?: ReportRecord[] | null;
  vehicle_history_reports?: ReportRecord[] | null;
  [member: string]: unknown;
}

/** A value of an archived lot, with the time of its last change in the newer form of the record. */
export type Dated<Value> = Value | null | { value: Value | null; updated_at: string | null };

/** A record of `/archived-lots`, in its newer or its older form. */
export interface ArchivedLotRecord {
  readonly lot_id: number;
  readonly lot?: string;
  readonly car_id: number;
  readonly vin?: string | null;
  readonly archived_at: string;
  readonly domain: Named;
  readonly status: Named;
  readonly bid: Dated<number>;
  readonly buy_now?: Dated<number>;
  readonly sale_date: Dated<string>;
  readonly final_bid: Dated<number>;
  readonly final_bid_updated_at?: string | null;
}

/** A record of `/statistics`. */
export interface StatisticRecord {
  readonly id: number;
  readonly domain?: Named | null;
  readonly manufacturer?: Named | null;
  readonly car_model?: Named | null;
  readonly generation?: Named | null;
  readonly vehicle_type?: Named | null;
  readonly engine?: Named | null;
  readonly year?: number | null;
  readonly calculated_at?: string | null;
  readonly lot_count?: number | null;
  readonly avg_final_bid?: number | null;
  readonly min_final_bid?: number | null;
  readonly max_final_bid?: number | null;
}

/** A record of `/korea-duplicates`. */
export interface DuplicateRecord {
  readonly duplicate_id: number;
  readonly original_id: number;
}

/** A record of the catalog or of another reference list. */
export interface CatalogRecord {
  readonly id: number;
  readonly cars_qty?: number;
  readonly models_qty?: number;
  readonly vehicle_type?: Named | null;
  readonly [member: string]: unknown;
}

/** Vehicles of a world as the pages of `/cars` give them, with their price histories; all active ones unless given. */
export function recordsOf(world: World, ids: readonly number[] = world.activeIds()): VehicleRecord[] {
  return ids.map((id) => JSON.parse(world.vehicleJson(id, { pricesHistory: true }) ?? 'null'));
}

/** A value that a test needs. Fails the test if it is missing, and says what is missing. */
export function need<Value>(value: Value | null | undefined, what: string): Value {
  if (value === null || value === undefined) throw new Error(`the test needs ${what}, and there is none`);
  return value;
}

/** The vehicle at a place of a list. */
export const vehicleAt = (vehicles: readonly VehicleRecord[], place: number): VehicleRecord =>
  need(vehicles[place], `a vehicle at place ${place}`);

/** The first lot of a vehicle. */
export const firstLot = ({ id, lots }: VehicleRecord): LotRecord => need(lots[0], `a lot of vehicle ${id}`);

/** The first lot of the vehicle at a place of a list. */
export const lotAt = (vehicles: readonly VehicleRecord[], place: number): LotRecord =>
  firstLot(vehicleAt(vehicles, place));
