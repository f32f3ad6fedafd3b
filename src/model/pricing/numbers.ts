import {
  type DuckDBAppender,
  type DuckDBConnection,
  DuckDBDataChunk,
  DuckDBDoubleVector,
} from '@duckdb/node-api';

const CHUNK = 2048;

/** Appends rows of numbers to a new table of the database `fit`; NaN becomes null. */
export class Numbers {
  readonly #appender: DuckDBAppender;
  readonly #rows: number[][] = [];

  private constructor(appender: DuckDBAppender) {
    this.#appender = appender;
  }

  static async create(
    connection: DuckDBConnection,
    name: string,
    columns: readonly string[],
  ): Promise<Numbers> {
    await connection.run(
      `create or replace table fit.${name} (${columns.map((column) => `${column} double`).join(', ')})`,
    );
    return new Numbers(await connection.createAppender(name, 'main', 'fit'));
  }

  append(row: number[]): void {
    this.#rows.push(row);
    if (this.#rows.length === CHUNK) this.#appendRows();
  }

  close(): void {
    this.flush();
    this.#appender.closeSync();
  }

  /** Makes the rows visible to queries. */
  flush(): void {
    this.#appendRows();
    this.#appender.flushSync();
  }

  #appendRows(): void {
    const types = Array.from({ length: this.#appender.columnCount }, (_, i) => this.#appender.columnType(i));
    const chunk = DuckDBDataChunk.create(types, this.#rows.length);
    for (const [column] of types.entries()) {
      const vector = chunk.getColumnVector(column);
      if (!(vector instanceof DuckDBDoubleVector)) throw new TypeError('a column of numbers is a double');
      this.#rows.forEach((row, at) => {
        const value = row[column];
        vector.setItem(at, value === undefined || Number.isNaN(value) ? null : value);
      });
      vector.flush();
    }
    this.#appender.appendDataChunk(chunk);
    this.#rows.length = 0;
  }
}
