import { type DuckDBAppender, type DuckDBConnection, DuckDBDataChunk } from '@duckdb/node-api';

const CHUNK = 2048;

/** Appends rows of numbers and texts, behind the number of their market, to a table of the database `fit`; NaN becomes null. */
export class Numbers {
  readonly #appender: DuckDBAppender;
  readonly #market: number;
  readonly #rows: (number | string | null)[][] = [];

  private constructor(appender: DuckDBAppender, market: number) {
    this.#appender = appender;
    this.#market = market;
  }

  static async open(connection: DuckDBConnection, table: string, market: number): Promise<Numbers> {
    return new Numbers(await connection.createAppender(table, 'main', 'fit'), market);
  }

  append(row: readonly (number | string)[]): void {
    const values: (number | string | null)[] = [this.#market];
    for (const value of row) values.push(Number.isNaN(value) ? null : value);
    this.#rows.push(values);
    if (this.#rows.length === CHUNK) this.#appendRows();
  }

  /** Makes the rows visible to queries. */
  close(): void {
    this.#appendRows();
    this.#appender.closeSync();
  }

  #appendRows(): void {
    const types = Array.from({ length: this.#appender.columnCount }, (_, i) => this.#appender.columnType(i));
    const chunk = DuckDBDataChunk.create(types, this.#rows.length);
    chunk.setRows(this.#rows);
    this.#appender.appendDataChunk(chunk);
    this.#rows.length = 0;
  }
}
