import { LotlakeError } from '../config/lotlake-error.js';

/** A wrong use of the sandbox itself; never a fault that it injects on request. */
export class SandboxError extends LotlakeError {
  override readonly name = 'SandboxError';
  constructor(message: string, hint?: string) {
    super(message, {
      code: 'SANDBOX_INVALID',
      stage: 'sandbox',
      outcome: 'usage',
      ...(hint === undefined ? {} : { hint }),
    });
  }
}
