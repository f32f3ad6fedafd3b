import type { DuckDBConnection } from '@duckdb/node-api';
import { RecordBatchFileWriter } from 'apache-arrow';
import { arrowBatch, arrowSchema, WrittenBytes } from '../query/arrow.js';
import { arrowValue } from '../query/instants.js';
import type { WrittenPart } from './data-file.js';
import { writeParts } from './streamed.js';

/**
 * Writes the rows of a query as Arrow IPC files, in their order; a file is closed with the rows that bring it to
 * `maxBytes`.
 * @param folder for the parts; it is made
 */
export async function writeArrow(
  connection: DuckDBConnection,
  sql: string,
  folder: string,
  { maxBytes }: { readonly maxBytes: number },
): Promise<WrittenPart[]> {
  return writeParts(connection, sql, folder, arrowValue, async function* (columns, pieces, part) {
    const schema = arrowSchema(columns);
    const written = new WrittenBytes();
    const writer = new RecordBatchFileWriter();
    writer.reset(written, schema);
    writer.write(arrowBatch(columns, [], schema));
    yield* written.take();
    while (written.total < maxBytes) {
      const rows = await pieces.next();
      if (rows === undefined) break;
      writer.write(arrowBatch(columns, rows, schema));
      part.rows += rows.length;
      yield* written.take();
    }
    writer.close();
    yield* written.take();
  });
}
