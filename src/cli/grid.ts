import Table from 'cli-table3';

/** A table for a terminal. A head that begins with `>` is the head of a column that is aligned to the right. */
export function gridOf(head: readonly string[]): InstanceType<typeof Table> {
  return new Table({
    head: head.map((name) => name.replace(/^>/, '')),
    colAligns: head.map((name) => (name.startsWith('>') ? 'right' : 'left')),
    style: { head: [], border: [], compact: true },
  });
}

/** A count with separators. */
export const number = (value: number): string => value.toLocaleString('en');

/** A size in megabytes. */
export const megabytes = (bytes: number): string => `${(bytes / 1e6).toFixed(1)} MB`;
