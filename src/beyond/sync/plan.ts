import type { Client } from 'pg';
import { type Changes, findChanges } from '../../ask/export/changes.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { pgType } from './pg-columns.js';
import type { Source } from './send.js';
import { definitionOf, inSchema, type SyncSettings, type Target, TRIGGER } from './target.js';

/** How a table is brought to the snapshot: `since`, the one that it has, if its changes are enough, or else why they are not. */
export interface Plan {
  readonly target: Target;
  readonly since: string | undefined;
  readonly isAnew: boolean;
  readonly because: string | null;
}

/** Finds what has to be done to a table, which nobody else changes from then on. */
export async function planOf(client: Client, { schema }: SyncSettings, target: Target): Promise<Plan> {
  const known = await knownTable(client, schema, target.name);
  if (known === undefined) return { target, since: undefined, isAnew: true, because: null };
  const whole = await whyWhole(client, schema, target, known.definition);
  if (whole !== undefined) return { target, since: undefined, isAnew: true, because: whole };
  const because = known.touched ? 'others changed rows of it' : null;
  return { target, since: known.touched ? undefined : known.snapshot, isAnew: false, because };
}

/** The changes since each snapshot that some tables have, by its id; none for one that the lake no longer keeps. */
export async function changesFor(
  { connection, config, manifest }: Source,
  plans: readonly Plan[],
): Promise<ReadonlyMap<string, Changes>> {
  const found = new Map<string, Changes>();
  const until = manifest.snapshot_id;
  for (const since of new Set(plans.flatMap((plan) => plan.since ?? []))) {
    const tables = plans.filter((plan) => plan.since === since).map(({ target }) => target.name);
    try {
      found.set(since, await findChanges(connection, config, { tables, since, until }));
    } catch (error) {
      if (!(error instanceof LotlakeError && error.code === 'LAKE_NO_SNAPSHOT')) throw error;
    }
  }
  return found;
}

/** What the database says of a table that an earlier sync made. */
interface Known {
  readonly snapshot: string;
  readonly definition: string;
  readonly touched: boolean;
}

/**
 * What the database says of a table, which nobody else changes from now on until the end of the transaction. Throws SYNC_FAILED for a
 * table of that name that no sync made.
 */
async function knownTable(client: Client, schema: string, name: string): Promise<Known | undefined> {
  const table = inSchema(schema, name);
  const { rows: found } = await client.query<{ readonly is_ours: boolean }>(
    `select exists (select 1 from pg_trigger where tgrelid = c.oid and tgname = $2) as is_ours
     from pg_class c where c.oid = to_regclass($1)`,
    [table, TRIGGER],
  );
  if (found[0]?.is_ours === false)
    throw new LotlakeError('SYNC_FAILED', `${table} is there, and no sync made it`, {
      outcome: 'usage',
      hint: 'nothing was changed; name a schema of its own in the setting sync, or drop that table',
    });
  // A change that is under way ends first, and is seen.
  if (found.length > 0) await client.query(`lock table ${table} in share row exclusive mode`);
  const { rows } = await client.query<Known>(
    `select snapshot, definition, touched from ${inSchema(schema, 'lotlake_sync')} where table_name = $1`,
    [name],
  );
  return rows[0];
}

/** Why a table has to be made anew; undefined if it can follow as it is. */
async function whyWhole(
  client: Client,
  schema: string,
  target: Target,
  definition: string,
): Promise<string | undefined> {
  const { columns } = target;
  const wants = columns.map(({ name, type }) => `${name} ${pgType(type)}`);
  if (definition !== definitionOf(target)) {
    const before: { readonly columns?: readonly (readonly [string, string])[] } = JSON.parse(definition);
    const was = (before.columns ?? []).map((column) => column.join(' '));
    const other = [
      ...was.filter((each) => !wants.includes(each)),
      ...wants.filter((each) => !was.includes(each)),
    ];
    return `it is to have another form: ${other.join(', ') || 'another key, order, or treatment of rows that left'}`;
  }
  const { rows } = await client.query<{ readonly is: string | null }>(
    `select string_agg(attname || ' ' || format_type(atttypid, null), ', ' order by attnum) as is
     from pg_attribute where attrelid = to_regclass($1) and attnum > 0 and not attisdropped`,
    [inSchema(schema, target.name)],
  );
  const { rows: expected } = await client.query<{ readonly is: string }>(
    `select string_agg(name || ' ' || format_type(to_regtype(type), null), ', ' order by place) as is
     from unnest($1::text[], $2::text[]) with ordinality as t(name, type, place)`,
    [columns.map(({ name }) => name), columns.map(({ type }) => pgType(type).replace(/\(.*?\)/, ''))],
  );
  if (rows[0]?.is === null) return 'it was not there';
  return rows[0]?.is === expected[0]?.is ? undefined : 'somebody changed its columns';
}
