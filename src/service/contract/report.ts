import { z } from 'zod';
import { anyText, flag, group, integer, reportDate, text, textId, timestamp } from './field.js';

/** Members that inspection and history reports share (reports.md). */
export const reportHead = {
  schema_version: integer('Version of the report schema.'),
  mapper_contract_version: integer('Version of the contract that mapped the source report.'),
  report_id: textId('Id of the report.'),
  status: text('Status of the report, such as published.'),
  visibility: text('Visibility of the report, such as public.'),
  language: text('Language code of the source report.'),
  created_at: reportDate('When the source created the report.'),
  system_updated_at: timestamp('When the service stored or refreshed the report.'),
  vehicle_ref: group('Listing and vehicle the report belongs to.', {
    domain_id: integer('Source of the listing the report belongs to.', { values: 'domain' }),
    listing_id: text('Listing the report belongs to.'),
    site_car_id: text('Id of the vehicle on the site.'),
    vin: text('VIN the report names.'),
  }),
  source: group('Where the report comes from.', {
    source_key: text('Key of the report source.'),
    source_type: text('Type of the report source.'),
    source_report_id: text('Id of the report at its source.'),
    source_language: text('Language at the source.'),
    mapper_version: anyText('Version of the mapper that read the source.'),
    imported_at: timestamp('When the report was imported.'),
  }),
  access: group('Access to the report.', {
    attach_to_listing: flag('Whether the report is attached to its listing.'),
  }),
};

/** Historic vehicle data stored with a report; the vehicle record itself takes precedence. */
export const snapshotHead = {
  title: text('Title of the vehicle at the time of the report.'),
  brand: text('Brand at the time of the report.'),
  model: text('Model at the time of the report.'),
  year: integer('Model year in the report.', { unit: 'year' }),
  vin: text('VIN in the report snapshot.'),
  mileage_km: integer('Mileage at the time of the report.', { unit: 'km' }),
  fuel_type: text('Fuel in the report.'),
};

/** Members of a media entry; inspection and history reports add their own. */
export const mediaHead = {
  id: text('Id of the media entry inside its report.'),
  type_key: text('Canonical type of the media entry.'),
  external_url: text('Address of the media at its source.', { unit: 'URL' }),
  local_path: text('Path of the copy kept by the service.'),
  server_id: text('Server that keeps the copy.'),
  description: text('Description of the media entry.'),
  sort_order: integer('Place of the media entry in the report.'),
};

/** One limitation that the source states for its report. */
export const limitationSchema = z.looseObject({
  id: text('Id of the limitation inside its report.'),
  type_key: text('Canonical type of the limitation.'),
  description: text('Description of the limitation.'),
  source_label: text('Label of the limitation at the source.'),
});
