import type { DuckDBConnection } from '@duckdb/node-api';
import type { Row } from '../../base/duck/session.js';
import { ask, failOlder } from './ask.js';

/** Tables and marts that a lookup reads. */
export const LOOKUP_READS = 'vehicles vin_facts lots sightings inspections history_reports vehicle_timeline';

/** What a lookup asks for: a VIN, lot number, vehicle id (`car`) or listing id, the last with its source. */
export interface Asked {
  readonly kind: 'vin' | 'lot' | 'car' | 'listing';
  readonly id: string;
  readonly domain?: number | undefined;
}

/** A vehicle as the lake has it. Instants are in ISO 8601, in UTC. */
export interface FoundVehicle {
  /** When the service last delivered the vehicle; null if none of the passes that the lake knows did. */
  readonly seen_at: string | null;
  readonly vehicle: Row;
  readonly lots: readonly Row[];
  /** Rows of `vehicle_timeline`, in order. */
  readonly timeline: readonly Row[];
  /** Ids of other vehicles with the VIN or lot number. */
  readonly other_vehicle_ids: readonly number[];
}

/**
 * The vehicle of an id in an open snapshot, undefined if there is none. Case and outer spaces do not count. Of several
 * vehicles it takes one that is in the feed, the one that changed last. Throws QUERY_NO_TABLE for a snapshot that lacks too
 * much.
 */
export async function findVehicle(
  connection: DuckDBConnection,
  asked: Asked,
): Promise<FoundVehicle | undefined> {
  const found = async (): Promise<FoundVehicle | undefined> => {
    const [vehicle_id, ...others] = await idsOf(connection, asked);
    if (vehicle_id === undefined) return undefined;
    const about = (query: string): Promise<Row[]> => ask(connection, query, { vehicle_id });
    const [vehicle] = await about('cli/vehicle');
    const [seen] = await about('cli/vehicle_seen');
    if (vehicle === undefined) return undefined;
    return {
      seen_at: typeof seen?.seen_at === 'string' ? seen.seen_at : null,
      vehicle,
      lots: await about('cli/vehicle_lots'),
      timeline: await about('cli/timeline'),
      other_vehicle_ids: others,
    };
  };
  return found().catch(failOlder);
}

/** Ids of the vehicles that a lookup means, the best first. */
async function idsOf(connection: DuckDBConnection, { kind, id, domain }: Asked): Promise<number[]> {
  const spelled = id.trim().toUpperCase();
  if (kind === 'car') return [Number(spelled)];
  const rows =
    kind === 'vin'
      ? await ask(connection, 'cli/vehicles_of_vin', { vin: spelled })
      : await ask(connection, 'cli/vehicles_of_lot', { lot: spelled, domain: domain ?? null });
  return rows.map(({ vehicle_id }) => Number(vehicle_id));
}
