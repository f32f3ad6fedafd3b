import type { FoundVehicle } from '../ask/query/find-vehicle.js';
import { gridOf } from '../ask/query/table.js';
import { printable } from '../base/config/printable.js';
import type { Row } from '../base/duck/session.js';

/** A vehicle of the service or of the lake. */
interface Shown {
  readonly id: unknown;
  readonly vehicle: object;
  readonly lots: readonly unknown[];
  readonly inspections: unknown;
  readonly historyReports: unknown;
}

/** The card of a record of the service. */
export function recordCard(id: unknown, record: object): string {
  const listAt = (name: string): readonly unknown[] => {
    const list: unknown = Reflect.get(record, name);
    return Array.isArray(list) ? list : [];
  };
  return cardOf({
    id,
    vehicle: record,
    lots: listAt('lots'),
    inspections: listAt('inspections').length,
    historyReports: listAt('vehicle_history_reports').length,
  });
}

/** The card of a vehicle of the lake, with how old it is and what happened to the vehicle. */
export function lakeCard({
  seen_at,
  vehicle,
  lots,
  timeline,
  other_vehicle_ids: others,
}: FoundVehicle): string {
  const { vehicle_id: id, inspections, history_reports: historyReports } = vehicle;
  const seen = seen_at === null ? 'does not say when it was last seen' : `last saw it at ${seen_at}`;
  const more = others.length > 0 ? `\nother vehicles with this number: ${others.join(', ')}` : '';
  const card = cardOf({ id, vehicle, lots, inspections, historyReports });
  return `from the lake, which ${seen}${more}\n${card}${timelineTable(timeline)}`;
}

function cardOf({ id, vehicle, lots, inspections, historyReports }: Shown): string {
  const word = (path: string): string => wordAt(vehicle, path);
  const isArchived = lots.length > 0 && lots.every((lot) => wordAt(lot, 'archived') === 'true');
  const named = ['year', 'manufacturer.name', 'model.name', 'generation.name'].map(word).join(' ');
  const facts = [
    `${word('title') || `vehicle ${printable(id)}`}${isArchived ? ' (archived)' : ''}`,
    `id ${printable(id)}, VIN ${word('vin') || 'unknown'}, ${named}`.trimEnd(),
    ['body_type', 'color', 'engine', 'transmission', 'drive_wheel', 'fuel']
      .map((name) => word(`${name}.name`).trim())
      .filter((name) => name !== '')
      .join(', '),
    `inspection reports: ${printable(inspections)}, history reports: ${printable(historyReports)}`,
  ];
  return `${facts.filter((line) => line !== '').join('\n')}\n${lotTable(lots)}`;
}

function lotTable(lots: readonly unknown[]): string {
  return gridOf(
    ['source', 'lot', 'status', 'sale date', 'bid', 'final bid', 'buy now', 'damage', 'km', 'archived'],
    lots.map((lot) => [
      wordAt(lot, 'domain.name'),
      wordAt(lot, 'lot'),
      wordAt(lot, 'status.name'),
      wordAt(lot, 'sale_date').slice(0, 16),
      ...['bid', 'final_bid', 'buy_now', 'damage.main.name', 'odometer.km'].map((path) => wordAt(lot, path)),
      wordAt(lot, 'archived') === 'true' ? wordAt(lot, 'archived_at').slice(0, 10) || 'yes' : '',
    ]),
  );
}

/**
 * The printable value at a path such as `damage.main.name`; empty if there is none. The lake names a column by the path of
 * the member, `damage_main_name`.
 */
function wordAt(of: unknown, path: string): string {
  const column: unknown = Reflect.get(Object(of), path.replaceAll('.', '_'));
  const member = path.split('.').reduce<unknown>((inner, name) => Reflect.get(Object(inner), name), of);
  return printable(column ?? member);
}

const COLUMNS = ['date', 'event', 'source', 'lot', 'amount', 'currency', 'km', 'rolled back', 'description'];

/** The events of a vehicle, a line each; empty if there are none. */
export function timelineTable(timeline: readonly Row[]): string {
  const lines = timeline.map((row) => Object.values(row).map((value) => printable(value)));
  return lines.length === 0 ? '' : `\n${gridOf(COLUMNS, lines)}`;
}
