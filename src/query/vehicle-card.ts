import type { z } from 'zod';
import { vehicleSchema } from '../service/contract/vehicle.js';
import { printable } from './printable.js';
import { gridOf } from './table.js';

/** One vehicle for a person: what it is, where it was offered, and whether it is archived. */
export function vehicleCard(record: unknown): string {
  const parsed = vehicleSchema.safeParse(record);
  if (!parsed.success) return JSON.stringify(record, null, 2);
  const vehicle = parsed.data;
  const lots = vehicle.lots ?? [];
  const isArchived = lots.length > 0 && lots.every((lot) => lot.archived === true);
  const facts = [
    `${printable(vehicle.title ?? `vehicle ${vehicle.id}`)}${isArchived ? ' (archived)' : ''}`,
    `id ${vehicle.id}, VIN ${printable(vehicle.vin) || 'unknown'}, ${printable(vehicle.year)} ${printable(vehicle.manufacturer?.name)} ${printable(vehicle.model?.name)} ${printable(vehicle.generation?.name)}`.trimEnd(),
    [
      vehicle.body_type,
      vehicle.color,
      vehicle.engine,
      vehicle.transmission,
      vehicle.drive_wheel,
      vehicle.fuel,
    ]
      .map((named) => printable(named?.name).trim())
      .filter((name) => name !== '')
      .join(', '),
    `inspection reports: ${vehicle.inspections?.length ?? 0}, history reports: ${vehicle.vehicle_history_reports?.length ?? 0}`,
  ];
  return `${facts.filter((line) => line !== '').join('\n')}\n${lotTable(lots)}`;
}

type Lots = NonNullable<z.infer<typeof vehicleSchema>['lots']>;

function lotTable(lots: Lots): string {
  return gridOf(
    ['source', 'lot', 'status', 'sale date', 'bid', 'final bid', 'buy now', 'damage', 'km', 'archived'],
    lots.map((lot) => [
      printable(lot.domain?.name),
      printable(lot.lot),
      printable(lot.status?.name),
      printable(lot.sale_date).slice(0, 16),
      printable(lot.bid),
      printable(lot.final_bid),
      printable(lot.buy_now),
      printable(lot.damage?.main?.name),
      printable(lot.odometer?.km),
      lot.archived === true ? printable(lot.archived_at).slice(0, 10) || 'yes' : '',
    ]),
  );
}
