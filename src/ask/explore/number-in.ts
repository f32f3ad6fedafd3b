const NUMBER = /^\$?\s?(\d{1,3}(?:[, _]\d{3})+|\d+)(\.\d+)?(k?)(?:\s*km)?$/i;

/** A number as people type it, such as 8,000, $8000, 8k or 90,000 km; NaN for anything else, such as 8.000, which may mean 8 or 8,000. */
export function numberIn(given: unknown): unknown {
  if (given === undefined) return undefined;
  const [, whole = '', part = '', thousands = ''] = NUMBER.exec(String(given).trim()) ?? [];
  if (whole === '' || (part.length === 4 && whole.length <= 3 && whole !== '0')) return Number.NaN;
  return Number(`${whole.replaceAll(/\D/g, '')}${part}`) * (thousands === '' ? 1 : 1000);
}
