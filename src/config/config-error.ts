import { LotlakeError } from './lotlake-error.js';

/** A setting that is missing or wrong. */
export class ConfigError extends LotlakeError {
  override readonly name = 'ConfigError';
  constructor(message: string, hint?: string) {
    super(message, {
      code: 'CONFIG_INVALID',
      stage: 'config',
      outcome: 'usage',
      ...(hint === undefined ? {} : { hint }),
    });
  }
}
