import Table from 'cli-table3';
import type { z } from 'zod';
import { vehicleSchema } from '../service/contract/vehicle.js';

/** Control characters would act on a terminal instead of being read. */
const plain = (value: unknown): string =>
  value === null || value === undefined ? '' : String(value).replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ' ');

/** One vehicle for a person: what it is, where it was offered, and whether it is archived. */
export function vehicleCard(record: unknown): string {
  const parsed = vehicleSchema.safeParse(record);
  if (!parsed.success) return `${JSON.stringify(record, null, 2)}\n`;
  const vehicle = parsed.data;
  const lots = vehicle.lots ?? [];
  const isArchived = lots.length > 0 && lots.every((lot) => lot.archived === true);
  const facts = [
    `${plain(vehicle.title ?? `vehicle ${vehicle.id}`)}${isArchived ? ' (archived)' : ''}`,
    `id ${vehicle.id}, VIN ${plain(vehicle.vin) || 'unknown'}, ${plain(vehicle.year)} ${plain(vehicle.manufacturer?.name)} ${plain(vehicle.model?.name)} ${plain(vehicle.generation?.name)}`.trimEnd(),
    [
      vehicle.body_type,
      vehicle.color,
      vehicle.engine,
      vehicle.transmission,
      vehicle.drive_wheel,
      vehicle.fuel,
    ]
      .map((named) => plain(named?.name).trim())
      .filter((name) => name !== '')
      .join(', '),
    `inspection reports: ${vehicle.inspections?.length ?? 0}, history reports: ${vehicle.vehicle_history_reports?.length ?? 0}`,
  ];
  return `${facts.filter((line) => line !== '').join('\n')}\n${lotTable(lots)}\n`;
}

type Lots = NonNullable<z.infer<typeof vehicleSchema>['lots']>;

function lotTable(lots: Lots): string {
  const grid = new Table({
    head: ['source', 'lot', 'status', 'sale date', 'bid', 'final bid', 'buy now', 'damage', 'km', 'archived'],
    style: { head: [], border: [], compact: true },
  });
  for (const lot of lots) {
    grid.push([
      plain(lot.domain?.name),
      plain(lot.lot),
      plain(lot.status?.name),
      plain(lot.sale_date).slice(0, 16),
      plain(lot.bid),
      plain(lot.final_bid),
      plain(lot.buy_now),
      plain(lot.damage?.main?.name),
      plain(lot.odometer?.km),
      lot.archived === true ? plain(lot.archived_at).slice(0, 10) || 'yes' : '',
    ]);
  }
  return grid.toString();
}
