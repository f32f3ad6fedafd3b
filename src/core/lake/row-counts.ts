import type { FileUse } from './linked-files.js';

/** Numbers of rows of a table by what this run did to them, and of old rows that it read to compare them. */
export type TableCounts = Readonly<
  Record<'inserted' | 'updated' | 'unchanged' | 'gone' | 'compared', number>
>;

/** Numbers of rows of a table by what a run did to them, and its files. */
export type TableChange = TableCounts & FileUse;

/** Rows of a table before the run. */
export const storedBefore = ({ unchanged, updated, gone }: TableCounts): number => unchanged + updated + gone;
