/** Index of the first number above a bound, in ascending numbers; their count where there is none. */
export function indexAbove(numbers: Float64Array, bound: number): number {
  let low = 0;
  let high = numbers.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((numbers[middle] ?? 0) > bound) high = middle;
    else low = middle + 1;
  }
  return low;
}
