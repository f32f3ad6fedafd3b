/** Values that are passed over without noting anything of them. Each step returns what `walk.ts` says. */
import * as at from '../layout';
import { isDigit, number, space, stuck, text, word } from './tokens';

/** Scans one value at `p` without noting anything. Keeps the open brackets by itself, so that no depth harms it. */
export function skip(start: i32): i32 {
  let p = start;
  let depth = 0;
  while (true) {
    const c = load<u8>(p);
    if (c === 0x7b || c === 0x5b) {
      p = space(p + 1);
      if (load<u8>(p) === c + 2) p++;
      else {
        if (depth === at.MOST_DEPTH) return at.TOO_DEEP;
        store<u8>(at.STACK + depth, c);
        depth++;
        if (c === 0x7b) p = name(p);
        if (p < 0) return p;
        continue;
      }
    } else p = leaf(p, c);
    // Behind a value: what ends here, and where the next one begins.
    while (true) {
      if (p < 0 || depth === 0) return p;
      const open = load<u8>(at.STACK + depth - 1);
      p = space(p);
      const d = load<u8>(p);
      if (d === 0x2c) {
        p = space(p + 1);
        if (open === 0x7b) p = name(p);
        if (p < 0) return p;
        break;
      }
      if (d !== open + 2) return stuck(p, open === 0x7b ? at.COMMA_OR_BRACE : at.COMMA_OR_BRACKET);
      depth--;
      p++;
    }
  }
}

/** A member name with its colon and the space behind it. */
export function name(start: i32): i32 {
  if (load<u8>(start) !== 0x22) return stuck(start, at.MEMBER_NAME);
  let p = text(start + 1);
  if (p < 0) return p;
  p = space(p);
  return load<u8>(p) === 0x3a ? space(p + 1) : stuck(p, at.COLON);
}

function leaf(p: i32, c: u8): i32 {
  if (c === 0x22) return text(p + 1);
  return c === 0x2d || isDigit(c) ? number(p, 0) : word(p, c);
}
