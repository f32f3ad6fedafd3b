import { insteadOf } from './gone.js';
import { type Code, LotlakeError } from './lotlake-error.js';
import { didYouMean, nearest } from './nearest.js';

/**
 * The error of an unknown name: `message` with the name, and with the known one that is most like it.
 * @param command lists the known names, if they are too many for the hint
 */
export function unknownName(
  code: Code,
  message: string,
  name: string,
  known: readonly { readonly name: string }[],
  command?: string,
): LotlakeError {
  const names = known.map((each) => each.name);
  const near = nearest(name, names).map((each) => each.name);
  const list =
    command === undefined
      ? `there are: ${names.join(', ')}`
      : `the nearest names are ${near.join(', ')}; ${command} lists all`;
  const hint = insteadOf(name) ?? list;
  return new LotlakeError(code, `${message} ${name}${didYouMean(name, names)}`, { outcome: 'usage', hint });
}
