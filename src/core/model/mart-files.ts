import { giveIds, type IdRecords, recordIn } from '../lake/field-ids.js';
import { copyOptions, PARQUET } from '../lake/parquet.js';
import type { Column } from '../lake/schema.js';
import type { Model } from './model-files.js';

/** The snapshot that the files of marts belong to. */
export interface MartSnapshot {
  readonly id: string;
  /** Ids of columns that were given before. */
  readonly recorded: IdRecords | undefined;
}

/** Earlier names of the columns of a model by their names. */
export const earlierNames = ({ columns }: Model): Readonly<Record<string, string | undefined>> =>
  Object.fromEntries(Object.entries(columns).map(([name, { was }]) => [name, was]));

/**
 * Options of COPY for the Parquet file of a mart.
 * @param snapshot gives the columns their ids, and is named in the file; a file of no snapshot has neither
 * @param columns as its SELECT gives them, once they are known
 */
export function martOptions(model: Model, snapshot?: MartSnapshot, columns?: readonly Column[]): string {
  if (snapshot === undefined) return PARQUET;
  const was = earlierNames(model);
  const named = columns ?? Object.keys(was).map((name) => ({ name }));
  const wanted = named.map((column) => ({ ...column, was: was[column.name] }));
  const given = giveIds(wanted, recordIn(snapshot.recorded, model.name), false);
  return copyOptions(model.name, snapshot.id, given.columns);
}
