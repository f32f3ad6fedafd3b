declare module 'parquetjs-lite' {
  /** A file that is read row by row. A read returns null after the last row. */
  export class ParquetReader {
    static openFile(path: string): Promise<ParquetReader>;
    getCursor(): { next(): Promise<Readonly<Record<string, unknown>> | null> };
    close(): Promise<void>;
  }
}
