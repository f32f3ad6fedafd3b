/** A value as one line of text, empty for none; control characters would act on a terminal instead of being read. */
export function printable(value: unknown): string {
  if (value === null || value === undefined) return '';
  const text = typeof value === 'object' ? JSON.stringify(value) : String(value);
  return text.replaceAll(/[\u0000-\u001f\u007f-\u009f]/g, ' ');
}

/** A text cut to a length, with an ellipsis where something is left out. */
export function clip(text: string, length: number): string {
  return text.length > length ? `${text.slice(0, length - 1)}…` : text;
}
