/** The forms of a timestamp that are told without asking back. */
import { isDigit } from './tokens';

/**
 * Length of the timestamp at `p` if it has one of the forms that nearly every one has: date and time to the second,
 * with nothing behind, with microseconds and Z, or with a zone in hours and minutes. Zero for everything else, and in the
 * first and the last century, where a zone may lead out of the years that can be kept.
 */
export function plainTimestamp(p: i32): i32 {
  // The least byte at each place of `0000-00-00 00:00`, and how far above it a byte may be.
  const lowest = i8x16(48, 48, 48, 48, 45, 48, 48, 45, 48, 48, 32, 48, 48, 58, 48, 48);
  const range = i8x16(9, 9, 9, 9, 0, 1, 9, 0, 3, 9, 52, 2, 9, 0, 5, 9);
  if (!i8x16.all_true(i8x16.le_u(i8x16.sub(v128.load(p), lowest), range))) return 0;
  const joint = load<u8>(p + 10);
  if (joint !== 0x54 && joint !== 0x20) return 0;
  if (two(p) === 0 || two(p) === 99 || two(p + 11) > 23 || !isDay(two(p + 5), two(p + 8))) return 0;
  // The same for `00:00:00.000000Z`, which begins with the hour again.
  const lowestBehind = i8x16(48, 48, 58, 48, 48, 58, 48, 48, 46, 48, 48, 48, 48, 48, 48, 90);
  const rangeBehind = i8x16(9, 9, 0, 9, 9, 0, 5, 9, 0, 9, 9, 9, 9, 9, 9, 0);
  const behind = i8x16.le_u(i8x16.sub(v128.load(p, 11), lowestBehind), rangeBehind);
  const fits = i8x16.bitmask(behind);
  if (fits === 0xffff) return 27;
  if ((fits & 0xff) !== 0xff) return 0;
  if (load<u8>(p + 19) === 0x22) return 19;
  return isZone(p + 19) ? 25 : 0;
}

/** Whether a zone such as `+09:00` stands at `p`. */
function isZone(p: i32): bool {
  const sign = load<u8>(p);
  if (sign !== 0x2b && sign !== 0x2d) return false;
  const tens = load<u8>(p + 1);
  const ones = load<u8>(p + 2);
  const isHour = tens === 0x30 ? isDigit(ones) : tens === 0x31 && ones >= 0x30 && ones <= 0x34;
  const minutes = load<u8>(p + 4);
  return isHour && load<u8>(p + 3) === 0x3a && minutes >= 0x30 && minutes <= 0x35 && isDigit(load<u8>(p + 5));
}

/** Whether a month has such a day in every year. */
function isDay(month: u32, day: u32): bool {
  if (month - 1 > 11 || day === 0) return false;
  if (day <= 28) return true;
  return month !== 2 && (day <= 30 || (day === 31 && ((LONG_MONTHS >> month) & 1) !== 0));
}

/** One bit for each month of 31 days. */
const LONG_MONTHS: u32 = 0b1_0101_1010_1010;

/** The number of two digits. */
function two(p: i32): u32 {
  return <u32>load<u8>(p) * 10 + <u32>load<u8>(p + 1) - 528;
}
