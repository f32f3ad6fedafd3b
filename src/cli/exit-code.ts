import type { Outcome } from '../config/lotlake-error.js';

/** Exit codes by how a command ended; 0 is success. */
export const exitCodes: Readonly<Record<Outcome, number>> = {
  failed: 1,
  usage: 2,
  refused: 3,
  unavailable: 4,
  held: 5,
  locked: 6,
  interrupted: 130,
};
