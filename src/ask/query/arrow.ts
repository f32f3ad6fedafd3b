import {
  AsyncByteQueue,
  Bool,
  type DataType,
  DateDay,
  Field,
  Float64,
  Int32,
  Int64,
  List,
  makeData,
  RecordBatch,
  RecordBatchStreamWriter,
  type RecordBatchWriter,
  Schema,
  Struct,
  TimestampMicrosecond,
  Utf8,
  Vector,
  vectorFromArray,
} from 'apache-arrow';
import type { Columns, Rows } from './result.js';

/**
 * Writes rows as an Arrow IPC stream: a record batch for each piece of rows, or one empty batch if there are none.
 * Values are as `arrowValue` gives them.
 */
export async function* arrowStream(
  columns: Columns,
  pieces: AsyncIterable<Rows>,
): AsyncGenerator<Uint8Array> {
  const output = arrowOutput(columns, new RecordBatchStreamWriter());
  let isEmpty = true;
  for await (const rows of pieces) {
    isEmpty = false;
    yield* output.write(rows);
  }
  if (isEmpty) yield* output.write([]);
  yield* output.close();
}

/**
 * Writes pieces of rows as record batches; each call returns the bytes that it made. Values are as `arrowValue` gives them,
 * in the order of the columns. Integers become Int64, numbers Float64, dates Date32, instants Timestamp in UTC
 * microseconds, lists of text List<Utf8>, and the rest text. Every column is nullable.
 */
export function arrowOutput(columns: Columns, writer: RecordBatchWriter) {
  const schema = new Schema(columns.map(({ name, type }) => new Field(name, arrowType(type), true)));
  const written = new WrittenBytes();
  writer.reset(written, schema);
  return {
    write(rows: Rows): Uint8Array[] {
      const children = columns.map(({ name, type }, i) => {
        const values = rows.map((row) => row[i] ?? null);
        const [data] = vectorOf(values, type).data;
        if (data === undefined) throw new TypeError(`column ${name} has no data`);
        return data;
      });
      const struct = makeData({ type: new Struct(schema.fields), length: rows.length, children });
      writer.write(new RecordBatch(schema, struct));
      return written.take();
    },
    close(): Uint8Array[] {
      writer.close();
      return written.take();
    },
  };
}

/** Holds what an Arrow writer wrote until it is taken. The queue of apache-arrow would hold the whole file. */
class WrittenBytes extends AsyncByteQueue {
  #chunks: Uint8Array[] = [];

  override write(chunk: Uint8Array): void {
    this.#chunks.push(chunk);
  }

  take(): Uint8Array[] {
    return this.#chunks.splice(0);
  }
}

function vectorOf(values: readonly unknown[], type: string): Vector {
  const arrow = arrowType(type);
  if (arrow instanceof TimestampMicrosecond || arrow instanceof DateDay) return times(values, arrow);
  return vectorFromArray(
    values.map((value) => (value === null ? null : toArrow(value, arrow))),
    arrow,
  );
}

const TIMESTAMP = /^TIMESTAMP(_S|_MS|_NS| WITH TIME ZONE)?$/;

function arrowType(type: string): DataType {
  if (/^(U?BIGINT|U?INTEGER|U?SMALLINT|U?TINYINT|HUGEINT)$/.test(type)) return new Int64();
  if (/^(DOUBLE|FLOAT|DECIMAL\(\d+,\d+\))$/.test(type)) return new Float64();
  if (TIMESTAMP.test(type)) return new TimestampMicrosecond(type.endsWith('TIME ZONE') ? 'UTC' : null);
  if (type === 'DATE') return new DateDay();
  if (type === 'VARCHAR[]') return new List(new Field('element', new Utf8(), true));
  return type === 'BOOLEAN' ? new Bool() : new Utf8();
}

function toArrow(value: unknown, type: DataType): unknown {
  if (type instanceof Int64) return BigInt(String(value));
  if (type instanceof Float64) return Number(value);
  if (type instanceof Bool || type instanceof List) return value;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A vector of times, made from the integers: the builders of apache-arrow take milliseconds as doubles. */
function times(values: readonly unknown[], type: TimestampMicrosecond | DateDay): Vector {
  const integers = vectorFromArray(values, type instanceof DateDay ? new Int32() : new Int64());
  return new Vector(integers.data.map((data) => data.clone(type)));
}
