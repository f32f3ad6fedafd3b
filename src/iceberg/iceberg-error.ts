import { LotlakeError } from '../config/lotlake-error.js';

/** The error of metadata that a power cut, or somebody else, has left (ICEBERG_METADATA). */
export const unreadable = (message: string, cause: unknown): LotlakeError =>
  new LotlakeError('ICEBERG_METADATA', message, {
    cause,
    hint: 'the data files stay; remove the metadata of this table, and the next run or push writes it again',
  });
