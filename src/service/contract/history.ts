import { z } from 'zod';
import { anyText, group, integer, list, number, reportDate, text, texts } from './field.js';
import { limitationSchema, mediaHead, reportHead, snapshotHead } from './report.js';

const REPORT_AMOUNT = { unit: 'currency of the row' };

/** One detail of a history event; only the value member that applies is filled. */
const eventDetailSchema = z.looseObject({
  key: text('Canonical key of the detail.'),
  value_text: text('Value as text.'),
  value_number: number('Value as number; its unit is in unit_key.'),
  value_date: reportDate('Value as date.'),
  unit_key: text('Canonical unit of the value.'),
  source_code: anyText('Code at the source.'),
  source_label: text('Name of the detail at the source.'),
});

/** Something that happened to the vehicle. */
const eventSchema = z.looseObject({
  id: text('Id of the event inside its report.'),
  type_key: text('Canonical type of the event.', { keys: 'event_type' }),
  subtype_key: text('Canonical subtype of the event.'),
  occurred_at: reportDate('When it happened, as exact as date_precision_key says.'),
  ended_at: reportDate('When it ended.'),
  date_precision_key: text('Precision of the dates.', { keys: 'date_precision' }),
  status_key: text('Canonical status of the event.'),
  mileage_km: integer('Mileage at the event.', { unit: 'km' }),
  source_code: anyText('Code at the source.'),
  source_label: text('Name of the event at the source.'),
  description: text('Description as the source gave it.'),
  evidence_type_key: text('Canonical type of the evidence.'),
  verification_key: text('Canonical state of verification.'),
  organization_name: text('Organization involved.'),
  organization_role_key: text('Canonical role of the organization.'),
  currency: text('Currency code of the amounts, lower case.'),
  amount_total: number('Total amount.', REPORT_AMOUNT),
  amount_insurance_benefit: number('Amount the insurance paid.', REPORT_AMOUNT),
  amount_parts: number('Amount for parts.', REPORT_AMOUNT),
  amount_labor: number('Amount for labour.', REPORT_AMOUNT),
  amount_painting: number('Amount for painting.', REPORT_AMOUNT),
  details: list(eventDetailSchema, 'Further details of the event.'),
});

const historyMedia = { ...mediaHead, original_name: text('Name of the file at its source.') };

/** A vehicle-history report of one listing. */
export const historyReportSchema = z.looseObject({
  ...reportHead,
  checked_at: reportDate('When the source made its check.'),
  vehicle_snapshot: group('Vehicle data stored with the report.', {
    ...snapshotHead,
    listing_id: text('Listing in the report snapshot.'),
    source_domain: text('Source platform in the report snapshot.'),
  }),
  coverage: group('What the report covers.', {
    completeness_key: text('Canonical completeness of the report.'),
    period_start: reportDate('Start of the period covered.'),
    period_end: reportDate('End of the period covered.'),
    section_keys: texts('Canonical sections the report covers.'),
  }),
  summary: group('Aggregate of the report; events and checks are the evidence.', {
    first_registered_at: reportDate('First registration of the vehicle.'),
    owner_change_count: integer('Changes of owner.', { unit: 'count' }),
    registration_change_count: integer('Changes of registration.', { unit: 'count' }),
    insurance_claim_count: integer('Insurance claims.', { unit: 'count' }),
    vehicle_damage_claim_count: integer('Claims for damage to this vehicle.', { unit: 'count' }),
    third_party_damage_claim_count: integer('Claims for damage to others.', { unit: 'count' }),
    total_loss_count: integer('Total losses.', { unit: 'count' }),
    flood_total_loss_count: integer('Total losses by flood.', { unit: 'count' }),
    flood_partial_loss_count: integer('Partial losses by flood.', { unit: 'count' }),
    theft_count: integer('Thefts.', { unit: 'count' }),
    vehicle_damage_claim_cost: number('Cost of claims for this vehicle.', REPORT_AMOUNT),
    third_party_damage_claim_cost: number('Cost of claims for others.', REPORT_AMOUNT),
    currency: text('Currency code of the costs, lower case.'),
  }),
  checks: list(
    z.looseObject({
      id: text('Id of the check inside its report.'),
      type_key: text('Canonical type of the check.', { keys: 'check_type' }),
      result_key: text('Outcome of the check.', { keys: 'check_result' }),
      count: integer('How often it was found.', { unit: 'count' }),
      source_code: anyText('Code at the source.'),
      source_label: text('Name of the check at the source.'),
      description: text('Description as the source gave it.'),
      evidence_type_key: text('Canonical type of the evidence.'),
      verification_key: text('Canonical state of verification.'),
    }),
    'What the source checked.',
  ),
  events: list(eventSchema, 'What happened to the vehicle.'),
  media: list(z.looseObject(historyMedia), 'Photographs and films of the report.'),
  files: list(z.looseObject(historyMedia), 'Files of the report.'),
  limitations: list(limitationSchema, 'Limitations that the source states.'),
});
