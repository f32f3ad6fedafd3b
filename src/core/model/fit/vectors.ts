/** Adds matrix × terms × factor, of a symmetric matrix, to a vector; four terms in one sweep over it. */
export function addProduct(
  vector: Float64Array,
  matrix: Float64Array,
  terms: Float64Array,
  factor: number,
): void {
  const size = terms.length;
  const used = new Int32Array(size);
  let count = 0;
  for (let at = 0; at < size; at += 1) {
    used[count] = at;
    if (terms[at] !== 0) count += 1;
  }
  for (let i = 0; i < count; i += 4) {
    const [a, b, c, d] = [used[i] ?? 0, used[i + 1] ?? 0, used[i + 2] ?? 0, used[i + 3] ?? 0];
    const ofA = factor * (terms[a] ?? 0);
    const ofB = i + 1 < count ? factor * (terms[b] ?? 0) : 0;
    const ofC = i + 2 < count ? factor * (terms[c] ?? 0) : 0;
    const ofD = i + 3 < count ? factor * (terms[d] ?? 0) : 0;
    const [lineA, lineB, lineC, lineD] = [a * size, b * size, c * size, d * size];
    for (let at = 0; at < size; at += 1)
      vector[at] =
        (vector[at] ?? 0) +
        ofA * (matrix[lineA + at] ?? 0) +
        ofB * (matrix[lineB + at] ?? 0) +
        ofC * (matrix[lineC + at] ?? 0) +
        ofD * (matrix[lineD + at] ?? 0);
  }
}

/** The sum of a vector at some places. */
export const sumAt = (vector: Float64Array, places: readonly number[]): number =>
  places.reduce((sum, at) => sum + (vector[at] ?? 0), 0);

/** Adds a multiple of as many numbers of a matrix, from `first` on, to a vector. */
export function addMultiple(vector: Float64Array, matrix: Float64Array, first: number, factor: number): void {
  for (let at = 0; at < vector.length; at += 1)
    vector[at] = (vector[at] ?? 0) + factor * (matrix[first + at] ?? 0);
}

/** The product of a vector with as many numbers of a matrix, from `first` on. */
export function dot(matrix: Float64Array, first: number, vector: Float64Array): number {
  let sum = 0;
  for (let at = 0; at < vector.length; at += 1) sum += (matrix[first + at] ?? 0) * (vector[at] ?? 0);
  return sum;
}
