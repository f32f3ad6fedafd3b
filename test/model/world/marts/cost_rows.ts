import { costRows } from '../costed.js';
import type { MartRow } from '../night.js';

const orNull = (text: string | undefined): string | null => (text === undefined || text === '' ? null : text);

export const rows = (): MartRow[] =>
  costRows().map(({ table, line, values }, i) => ({
    cost_row: i + 1,
    table_name: table,
    line,
    valid_from: orNull(table === 'exchange' ? values.day : values.valid_from),
    valid_to: orNull(values.valid_to),
    note: orNull(values.note),
    cells: JSON.stringify(values),
  }));
