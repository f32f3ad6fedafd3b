/** Forms in which a result can be given. */
export const formats = ['table', 'vertical', 'json', 'csv', 'arrow', 'parquet'] as const;

/** One of {@link formats}. */
export type Format = (typeof formats)[number];
