import { type ErrorFacts, LotlakeError } from '../config/lotlake-error.js';

/** Iceberg metadata cannot be made or read. */
export class IcebergError extends LotlakeError {
  override readonly name = 'IcebergError';
  constructor(code: string, message: string, rest: Omit<ErrorFacts, 'code' | 'stage'> = {}) {
    super(message, { code, stage: 'publish', ...rest });
  }
}

/** The error of metadata that a power cut, or somebody else, has left (ICEBERG_METADATA). */
export const unreadable = (message: string, cause: unknown): IcebergError =>
  new IcebergError('ICEBERG_METADATA', message, {
    cause,
    hint: 'the data files stay; remove the metadata of this table, and the next run or push writes it again',
  });
