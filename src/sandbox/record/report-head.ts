import { named } from '../data/wording.js';
import type { Car } from '../world/car.js';
import { HOUR, type Instant, micros, zoned } from '../world/instants.js';
import type { LotLife } from '../world/lot-life.js';
import type { Past } from '../world/past.js';
import { lotNumber } from '../world/population.js';

/** A report and the listing it belongs to. */
export interface ReportPlace {
  readonly car: Car;
  readonly vehicleId: number;
  readonly life: LotLife;
  readonly past: Past;
  /** Place among the reports of its kind, from 0. */
  readonly place: number;
  /** When the source made the report. */
  readonly at: Instant;
  /** When the service stored it. */
  readonly storedAt: Instant;
  /** Hours that the local time of the source is ahead of UTC. */
  readonly zone: number;
}

const fuels = ['', 'diesel', 'electric', 'hybrid', 'gasoline', 'lpg', 'flexible', 'hydrogen'];

/** The first members of both kinds of report (service.md#reports). */
export function reportHead(report: ReportPlace, kind: 'inspection' | 'history') {
  const { car, life, at, storedAt, place, zone } = report;
  const language = life.domain === 12 ? 'ko' : 'en';
  const listing = lotNumber(life);
  return {
    schema_version: 1,
    mapper_contract_version: 3,
    report_id: `${kind}-${listing}-${place + 1}`,
    status: 'published',
    visibility: 'public',
    language,
    created_at: zoned(at, zone),
    system_updated_at: micros(storedAt),
    vehicle_ref: {
      domain_id: life.domain,
      listing_id: listing,
      site_car_id: place === 0 ? String(report.vehicleId) : null,
      vin: car.vin ?? '',
    },
    source: {
      source_key: place === 0 ? named('domain', life.domain).name.replace('_com', '') : 'dealer_network',
      source_type: kind === 'inspection' ? 'inspection_sheet' : 'insurance_record',
      source_report_id: `${listing}/${place + 1}`,
      source_language: language,
      mapper_version: '3.2.1',
      imported_at: zoned(storedAt - HOUR, 0),
    },
    access: { attach_to_listing: true },
  };
}

/** Vehicle data in both kinds of report. It may differ from the vehicle record, which takes precedence. */
export const snapshot = ({ car, place }: ReportPlace) => ({
  title: `${car.model.manufacturer.name} ${car.model.name}`,
  brand: car.model.manufacturer.name.toUpperCase(),
  model: car.model.name,
  year: car.year,
  vin: car.vin ?? '',
  mileage_km: Math.max(0, car.km - 40 * (place + 1)),
  fuel_type: fuels[car.engine.fuel] ?? null,
});
