import type { Column } from './schema.js';

const TIME = 'TIMESTAMP WITH TIME ZONE';

/** A table that lotlake writes about its own work. */
export interface OwnTable {
  readonly name: string;
  readonly description: string;
  readonly grain: string;
  readonly key: readonly string[];
  readonly partitioned: boolean;
  readonly columns: readonly (Column & { readonly description: string })[];
}

/** Tables of lotlake's own, in the order in which they are listed. */
export const ownTables: readonly OwnTable[] = [
  {
    name: 'lot_changes',
    description: 'Every change of a tracked field of a lot, with when it was seen.',
    grain: 'one row a changed field of a lot and run',
    key: ['lot_id', 'field', 'seen_at'],
    partitioned: true,
    columns: [
      { name: 'lot_id', type: 'BIGINT', description: 'Id of the lot.' },
      { name: 'vehicle_id', type: 'BIGINT', description: 'Vehicle of the lot after the change.' },
      { name: 'domain_id', type: 'BIGINT', description: 'Source platform of the lot.' },
      { name: 'field', type: 'VARCHAR', description: 'Column of lots that changed.' },
      { name: 'old_value', type: 'VARCHAR', description: 'Value before, as text.' },
      { name: 'new_value', type: 'VARCHAR', description: 'Value after, as text.' },
      { name: 'seen_at', type: TIME, description: 'Start of the pass that brought the new value.' },
      { name: 'run_id', type: 'VARCHAR', description: 'Run that recorded the change.' },
    ],
  },
  {
    name: 'sightings',
    description:
      'When the own record of each vehicle and each lot was last delivered by the service and loaded. Nothing else says that a row was seen.',
    grain: 'one row a lot, and one a vehicle, without lot_id',
    key: ['vehicle_id', 'lot_id'],
    partitioned: false,
    columns: [
      { name: 'vehicle_id', type: 'BIGINT', description: 'Vehicle of the lot when it was last seen.' },
      {
        name: 'lot_id',
        type: 'BIGINT',
        description: 'Id of the lot; null in the row of the vehicle itself.',
      },
      {
        name: 'seen_at',
        type: TIME,
        description:
          'Start of the last pass that delivered the record so that it was loaded, also where nothing in it had changed.',
      },
      {
        name: 'seen_by',
        type: 'VARCHAR',
        description:
          'What that pass asked for: full, window or lookup; null where an older lotlake did not note it.',
      },
      {
        name: 'rejected_at',
        type: TIME,
        description:
          'Start of the last pass since then whose record of it was rejected; its rows are as they were before that.',
      },
      { name: 'run_id', type: 'VARCHAR', description: 'Run that saw it last.' },
    ],
  },
  {
    name: 'closings',
    description: 'Vehicles that the closing job asked for after they left the feed, and what came of it.',
    grain: 'one row a vehicle',
    key: ['vehicle_id'],
    partitioned: false,
    columns: [
      { name: 'vehicle_id', type: 'BIGINT', description: 'Id of the vehicle.' },
      { name: 'asked_at', type: TIME, description: 'When it was last asked for.' },
      { name: 'asked', type: 'BIGINT', description: 'How often it was asked for.' },
      {
        name: 'outcome',
        type: 'VARCHAR',
        description:
          'found; gone where the service no longer knows the vehicle, which is never asked for again; refused where the key lacks its source.',
      },
      { name: 'run_id', type: 'VARCHAR', description: 'Run that last asked.' },
    ],
  },
  {
    name: 'rejects',
    description:
      'Values that break the contract, and records that could not be loaded at all because their keys or rows cannot be read or they are too large, with their place and raw text.',
    grain: 'one row a rejected value, and one a record that was rejected whole, without table_name',
    key: ['stream', 'pass_id', 'list', 'page', 'position', 'path'],
    partitioned: false,
    columns: [
      { name: 'stream', type: 'VARCHAR', description: 'Stream the record came in.' },
      { name: 'pass_id', type: 'VARCHAR', description: 'Pass that landed the record.' },
      {
        name: 'list',
        type: 'VARCHAR',
        description:
          'List of the stream that the page is of, such as the state whose cities it holds; empty where there is one.',
      },
      { name: 'page', type: 'BIGINT', description: 'Page of the list.' },
      { name: 'position', type: 'BIGINT', description: 'Position of the record in the page, from 0.' },
      { name: 'record_id', type: 'VARCHAR', description: 'Id of the record, where it has one.' },
      {
        name: 'path',
        type: 'VARCHAR',
        description:
          'Place in the record that breaks the contract; of a record that was rejected whole, the first.',
      },
      { name: 'expected', type: 'VARCHAR', description: 'What the contract expects there.' },
      { name: 'found', type: 'VARCHAR', description: 'What was found there.' },
      {
        name: 'raw',
        type: 'VARCHAR',
        description:
          'The value as it came; of a record that was rejected whole, the record; of one that is too large, its first 1,000 bytes.',
      },
      {
        name: 'table_name',
        type: 'VARCHAR',
        description: 'Table whose row lacks the value; null for a record that was rejected whole.',
      },
      { name: 'row_key', type: 'VARCHAR', description: 'Key of that row, as a JSON object by column.' },
      {
        name: 'column_name',
        type: 'VARCHAR',
        description: 'Column that lacks the value; the names of all of them where the value is an object.',
      },
      { name: 'run_id', type: 'VARCHAR', description: 'Run that rejected it.' },
    ],
  },
  {
    name: 'passes',
    description: 'Walks through the lists of the service that the lake was made from.',
    grain: 'one row a pass',
    key: ['pass_id'],
    partitioned: false,
    columns: [
      { name: 'pass_id', type: 'VARCHAR', description: 'Id of the pass; its folder in landing.' },
      { name: 'stream', type: 'VARCHAR', description: 'Stream of the pass.' },
      { name: 'kind', type: 'VARCHAR', description: 'full, or window for the changes of some minutes.' },
      { name: 'request', type: 'VARCHAR', description: 'Parameters of the requests, as JSON.' },
      { name: 'state', type: 'VARCHAR', description: 'sealed or abandoned.' },
      { name: 'complete', type: 'BOOLEAN', description: 'Whether what the pass lacks is proven absent.' },
      { name: 'reason', type: 'VARCHAR', description: 'What the pass does not prove, and why.' },
      {
        name: 'sources',
        type: 'VARCHAR[]',
        description:
          'Sources that were walked whole, where the pass asked for them one by one; null where it asked for all of the key together, or an older lotlake did not note it.',
      },
      {
        name: 'hidden',
        type: 'VARCHAR[]',
        description:
          'Sources that the service refused to the key for some of the pass, which says nothing about them.',
      },
      { name: 'started_at', type: TIME, description: 'Start of the pass.' },
      { name: 'ended_at', type: TIME, description: 'End of the pass.' },
      { name: 'pages', type: 'BIGINT', description: 'Pages landed.' },
      { name: 'records', type: 'BIGINT', description: 'Records landed.' },
      { name: 'bytes', type: 'BIGINT', description: 'Bytes of the records, uncompressed.' },
      { name: 'first_id', type: 'BIGINT', description: 'Least id of a page border.' },
      { name: 'last_id', type: 'BIGINT', description: 'Greatest id of a page border.' },
      { name: 'total', type: 'BIGINT', description: 'Records that the service counted, where it said.' },
      { name: 'drift', type: 'VARCHAR', description: 'Members that the contract does not know, as JSON.' },
      { name: 'run_id', type: 'VARCHAR', description: 'Run that made the pass.' },
    ],
  },
  {
    name: 'runs',
    description: 'Runs that published a snapshot.',
    grain: 'one row a run',
    key: ['run_id'],
    partitioned: false,
    columns: [
      { name: 'run_id', type: 'VARCHAR', description: 'Id of the run.' },
      { name: 'pipeline', type: 'VARCHAR', description: 'Pipeline that ran.' },
      { name: 'snapshot_id', type: 'VARCHAR', description: 'Snapshot that the run published.' },
      { name: 'started_at', type: TIME, description: 'Start of the run.' },
      { name: 'ended_at', type: TIME, description: 'When the snapshot was ready to be published.' },
      { name: 'records', type: 'BIGINT', description: 'Records landed by the run.' },
      { name: 'loaded', type: 'BIGINT', description: 'Records loaded.' },
      { name: 'rejected', type: 'BIGINT', description: 'Records rejected whole.' },
      {
        name: 'rejected_values',
        type: 'BIGINT',
        description: 'Values of loaded records that were rejected; null in runs of an older lotlake.',
      },
      { name: 'drifted', type: 'BIGINT', description: 'Members met that the contract does not know.' },
      {
        name: 'counts',
        type: 'VARCHAR',
        description: 'Rows inserted, updated, unchanged and gone by table, as JSON.',
      },
      { name: 'warnings', type: 'VARCHAR[]', description: 'What the run warned of.' },
      {
        name: 'held',
        type: 'VARCHAR[]',
        description:
          'Why runs since the one that published before were held by a guard or a data test, one text a run.',
      },
      {
        name: 'failing',
        type: 'VARCHAR[]',
        description:
          'Runs of other pipelines that were held or failed, without one of their pipeline that had published since when this run did: pipeline, start and reason, one text a run.',
      },
      {
        name: 'minimum_group',
        type: 'BIGINT',
        description:
          'Fewest values that a statistic of the marts of this run rests on; minimumGroup of the configuration.',
      },
      {
        name: 'relisting_days',
        type: 'BIGINT',
        description:
          'Days after a sale within which the marts of this run take another offer of the vehicle for the end of that sale; relistingDays of the configuration.',
      },
      {
        name: 'reject_alarm',
        type: 'DOUBLE',
        description:
          'Share of records with something rejected above which data_health raises an alarm; rejectAlarm of the configuration.',
      },
    ],
  },
];
