import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { streamNew } from '../../base/config/owned.js';
import type { Columns } from '../query/result.js';

/** A cell as the writer of workbooks takes it. */
type Cell = string | number | boolean | Date | null;

/** The longest text that Excel takes in a cell, in UTF-16 units. */
const LONGEST = 32_767;

/** Integers of more than 15 digits lose the last ones in a spreadsheet. */
const LARGEST = 1e15;

/** Text that Excel takes for an escaped character, such as `_x0041_`. */
const ESCAPE = /_(?=x[0-9A-Fa-f]{4}_)/g;

/** Characters that XML 1.0 forbids, beside the control characters, which the writer escapes itself. */
const NO_XML = /[\ufffe\uffff]/g;

/** No workbook unpacks to more than this, roughly: without Zip64 a sheet ends at 4 GiB. */
const MOST_UNPACKED = 2 ** 30;

/** Bytes of the tags around a cell, roughly. */
const TAGS = 50;

/**
 * Writes rows as an Excel workbook, in little memory. A text is a cell of text, so that no spreadsheet makes a number, a
 * date or a formula of it, and so is an integer of more than 15 digits. A text that is longer than a cell may be ends in
 * `…`. Rows past Excel's 1,048,576 of a sheet, with the header, go on in a second sheet.
 * @param rows values as `cellValue` gives them; the iterator stays open
 * @param first the row before them
 * @param maxBytes size at which the workbook ends, unpacked. It does not depend on how fast the file is written, so the
 * same rows make the same files.
 * @returns how many rows it wrote, and the one that follows them
 */
export async function writeWorkbook(
  path: string,
  rows: AsyncIterator<readonly unknown[], undefined>,
  first: readonly unknown[] | undefined,
  {
    columns,
    name,
    maxBytes,
  }: { readonly columns: Columns; readonly name: string; readonly maxBytes: number },
): Promise<{ readonly written: number; readonly following: readonly unknown[] | undefined }> {
  let [written, unpacked, following] = [0, 0, first];
  async function* cells(): AsyncGenerator<Cell[]> {
    const most = Math.min(maxBytes, MOST_UNPACKED);
    for (; following !== undefined && unpacked < most; following = (await rows.next()).value) {
      const row = following.map(cellOf);
      for (const cell of row) unpacked += cell === null ? 0 : TAGS + String(cell).length;
      written++;
      yield row;
    }
  }
  // Loaded only when it is used, as no other command needs it.
  const { writeXlsxStream } = await import('hucre/xlsx');
  const workbook = writeXlsxStream(cells(), {
    name: name.slice(0, 31),
    columns: columns.map(({ name: header, type }) => ({
      header: inXml(header),
      numFmt: formatOf(type),
      width: 16,
    })),
    freezePane: { rows: 1 },
  });
  await pipeline(Readable.fromWeb(workbook), streamNew(path));
  return { written, following };
}

function cellOf(value: unknown): Cell {
  if (value === null || value === undefined || value instanceof Date || typeof value === 'boolean')
    return value ?? null;
  if (typeof value === 'number')
    return Math.abs(value) < LARGEST || !Number.isInteger(value) ? value : String(value);
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  const whole =
    text.length <= LONGEST ? text : `${text.slice(0, LONGEST - 1).replace(/[\uD800-\uDBFF]$/, '')}…`;
  return inXml(whole);
}

/** A text of a workbook: what XML cannot hold is escaped as Excel does, such as `_xFFFE_`. */
const inXml = (text: string): string =>
  text
    .replaceAll(ESCAPE, '_x005F_')
    .replaceAll(NO_XML, (found) => `_x${found.charCodeAt(0).toString(16).toUpperCase()}_`);

/** Format of the cells of a column. `@` keeps a text as it is when someone edits it. */
function formatOf(type: string): string {
  if (type.startsWith('TIMESTAMP')) return 'yyyy-mm-dd hh:mm:ss';
  if (type === 'DATE') return 'yyyy-mm-dd';
  return /INT|DOUBLE|FLOAT|DECIMAL|BOOLEAN/.test(type) && !type.endsWith(']') ? 'General' : '@';
}
