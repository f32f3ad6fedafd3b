/** JSON forms that one value can take on the wire, as bits. Texts are told apart only where the contract asks. */

export const NULL = 1;
export const BOOLEAN = 2;
/** An integer token of at most 15 digits: exact in a double and in BIGINT. */
export const INTEGER = 4;
/** An integer token of more than 15 digits: exact only within the safe range, so it is looked at one by one. */
export const LONG_INTEGER = 8;
/** A number with a fraction or an exponent. */
export const REAL = 16;
export const TEXT = 32;
/** A text of at most 15 digits with an optional sign. */
export const INTEGER_TEXT = 64;
/** A text that is a plain decimal number with a fraction. */
export const REAL_TEXT = 128;
/** A text that is a timestamp in one of the service's forms. */
export const TIMESTAMP_TEXT = 256;
export const OBJECT = 512;
export const ARRAY = 1024;
/** A text that is a year or a month alone, such as `2019` or `2019-05`. */
export const YEAR_OR_MONTH_TEXT = 2048;

/** A number with an exponent, which may not fit a double. No contract accepts it. */
export const EXPONENT = 4096;
/** An object without a member that the contract requires. No contract accepts it. */
export const MISSING = 8192;
/** A key below zero, noted beside its own kind. No contract accepts it. */
export const NEGATIVE_KEY = 16384;
