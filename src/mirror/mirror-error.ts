import { type Code, LotlakeError } from '../config/lotlake-error.js';

/** Ends the hint of an error of the service. */
export const RESUME =
  'the lake of this machine and the snapshot of the mirror are as they were; the same command goes on with what was copied';

/** The error of a place or a lake that the same command can never use. */
export const unusable = (code: Code, message: string, hint: string): LotlakeError =>
  new LotlakeError(code, message, { outcome: 'usage', hint });

/** The error of a place that somebody else is at work in. The same command may succeed later. */
export const busy = (code: Code, message: string, hint: string): LotlakeError =>
  new LotlakeError(code, message, { outcome: 'locked', retryable: true, hint });

/** The error of a place that nothing was pushed to. */
export const missing = ({ place }: { readonly place: string }): LotlakeError => {
  const hint = 'name the place that a push was given; nothing was changed';
  return unusable('MIRROR_NOT_FOUND', `there is no mirror at ${place}`, hint);
};
