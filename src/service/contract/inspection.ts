import { z } from 'zod';
import { anyText, group, integer, list, number, reportDate, text, texts } from './field.js';
import { limitationSchema, mediaHead, reportHead, snapshotHead } from './report.js';

/** A measured value of a checked item. */
const measurementSchema = z.looseObject({
  id: text('Id of the measurement inside its report.'),
  type_key: text('Canonical type of the measurement.'),
  value_number: number('Measured number; its unit is in unit_key.'),
  value_text: text('Measured text.'),
  unit_key: text('Canonical unit of the measurement.'),
  result_key: text('Canonical outcome of the measurement.', { keys: 'inspection_result' }),
  description: text('Description of the measurement.'),
});

/** One part that the inspector looked at. */
const checkedItemSchema = z.looseObject({
  id: text('Id of the checked item inside its report.'),
  block_id: text('Inspection block the item belongs to.'),
  block_key: text('Canonical key of that block.', { keys: 'block' }),
  part_key: text('Canonical part; the taxonomy grows.'),
  part_label: text('Part as the source names it.'),
  location_key: text('Canonical place on the vehicle.'),
  location_label: text('Place as the source names it.'),
  result_key: text('Outcome; unknown is never ok.', { keys: 'inspection_result' }),
  issue_type_keys: texts('Canonical types of the issues found.', { keys: 'issue_type' }),
  severity_key: text('Canonical severity.'),
  damage_rank_key: text('Canonical rank of the damage.'),
  accident_relevance_key: text('Whether the finding matters as an accident.'),
  recommendation_key: text('Canonical recommendation.'),
  source_code: anyText('Code at the source.'),
  source_label: text('Name of the check at the source.'),
  description: text('Answer exactly as the source gave it.'),
  clarification: text('Further explanation.'),
  evidence_media_ids: texts('Ids of media entries of the same report that show the finding.'),
  visual_map_id: text('Drawing on which the finding is marked.'),
  visual_marker_id: text('Marker on that drawing.'),
  visual_marker_label: text('Label of the marker.'),
  visual_x: number('Horizontal place of the marker.'),
  visual_y: number('Vertical place of the marker.'),
  visual_width: number('Width of the marker.'),
  visual_height: number('Height of the marker.'),
  visual_shape_key: text('Canonical shape of the marker.'),
  measurements: list(measurementSchema, 'Measured values of the item.'),
});

const inspectionMedia = {
  ...mediaHead,
  block_id: text('Inspection block the media entry belongs to.'),
  checked_item_id: text('Checked item the media entry belongs to.'),
};

/** A technical inspection report of one listing. */
export const inspectionSchema = z.looseObject({
  ...reportHead,
  uuid: text('Universal id of the report.'),
  inspected_at: reportDate('When the vehicle was inspected.'),
  valid_until: reportDate('Until when the report is valid.'),
  updated_at: reportDate('When the source updated the report.'),
  vehicle_snapshot: group('Vehicle data stored with the report.', {
    ...snapshotHead,
    transmission: text('Transmission in the report.'),
    engine_type: text('Engine in the report.'),
  }),
  participants: list(
    z.looseObject({
      role_key: text('Canonical role of the participant.'),
      name: text('Name of the participant.'),
      company_id: integer('Company of the participant.'),
      user_id: integer('User of the participant.'),
      source_label: text('Role as the source names it.'),
    }),
    'People and companies that took part.',
  ),
  conclusions: group('Conclusions of the report.', {
    overall_result_key: text('Canonical overall outcome.'),
    accident_status_key: text('Canonical accident status.'),
    water_damage_status_key: text('Canonical water damage status.'),
    fire_damage_status_key: text('Canonical fire damage status.'),
    chemical_damage_status_key: text('Canonical chemical damage status.'),
    biohazard_status_key: text('Canonical biohazard status.'),
    notes: text('Notes of the inspector.'),
  }),
  source_claims: list(
    z.looseObject({
      id: text('Id of the claim inside its report.'),
      type_key: text('Canonical type of the claim.'),
      result_key: text('Canonical outcome of the claim.', { keys: 'inspection_result' }),
      source_code: anyText('Code at the source.'),
      source_label: text('Name of the claim at the source.'),
      description: text('Answer exactly as the source gave it.'),
    }),
    'Statements that the source makes about the vehicle.',
  ),
  inspection_blocks: list(
    z.looseObject({
      id: text('Id of the block inside its report.'),
      key: text('Canonical key of the block.', { keys: 'block' }),
      result_key: text('Canonical outcome of the block.', { keys: 'inspection_result' }),
      source_code: anyText('Code at the source.'),
      source_label: text('Name of the block at the source.'),
      description: text('Description of the block.'),
      sort_order: integer('Place of the block in the report.'),
    }),
    'Groups of checked items.',
  ),
  checked_items: list(checkedItemSchema, 'Parts that were looked at.'),
  diagnostic_errors: list(
    z.looseObject({
      id: text('Id of the error inside its report.'),
      system_key: text('Canonical vehicle system.'),
      system_label: text('System as the source names it.'),
      code: text('Diagnostic trouble code.'),
      description: text('Description of the error.'),
      status_key: text('Canonical status of the error.'),
      severity_key: text('Canonical severity of the error.'),
      source_label: text('Name of the error at the source.'),
    }),
    'Errors read from the vehicle.',
  ),
  media: list(z.looseObject(inspectionMedia), 'Photographs and films of the report.'),
  files: list(
    z.looseObject({
      ...inspectionMedia,
      original_name: text('Name of the file at its source.'),
      extension: text('Extension of the file.'),
    }),
    'Files of the report.',
  ),
  limitations: list(limitationSchema, 'Limitations that the source states.'),
});
