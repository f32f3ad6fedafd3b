import { type ErrorFacts, LotlakeError } from '../config/lotlake-error.js';

/** Iceberg metadata cannot be made or read. */
export class IcebergError extends LotlakeError {
  override readonly name = 'IcebergError';
  constructor(code: string, message: string, rest: Omit<ErrorFacts, 'code' | 'stage'> = {}) {
    super(message, { code, stage: 'publish', ...rest });
  }
}
