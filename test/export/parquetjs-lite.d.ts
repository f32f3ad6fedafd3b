declare module 'parquetjs-lite' {
  /** A file that is read row by row; null after the last. */
  export class ParquetReader {
    static openFile(path: string): Promise<ParquetReader>;
    getCursor(): { next(): Promise<Readonly<Record<string, unknown>> | null> };
    close(): Promise<void>;
  }
}
