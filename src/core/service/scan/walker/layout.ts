/** Where things stand in the memory of the walker. Both compilers read this file: TypeScript and AssemblyScript. */

/** What the two sides tell each other, one 32-bit word each. */
export const END = 64;
/** Position in its page of the record under way. */
export const RECORD = 68;
/** Not zero when white space stood between tokens. */
export const SPACED = 72;
/** Not zero when something is JSON that DuckDB does not take. */
export const IRREGULAR = 76;
/** Where the text of the record's id stood; the start is negative if there was none. */
export const ID_START = 80;
export const ID_END = 84;
/** Where the grammar is broken, and which of the reasons below it is. */
export const FAULT_AT = 88;
export const FAULT = 92;
/** Objects seen in the page so far. */
export const OBJECTS = 96;

/** Open brackets of a value whose inside is not described, one byte each. */
export const STACK = 1024;
export const MOST_DEPTH = 15360;
/** First address behind the fixed part. */
export const FREE = 16384;

/** What a step of the walker returns instead of an offset. */
export const NEED_MORE = -1;
export const BROKEN = -2;
export const TOO_DEEP = -3;

/** The reasons behind `BROKEN`. */
export const MEMBER_NAME = 0;
export const COLON = 1;
export const COMMA_OR_BRACE = 2;
export const COMMA_OR_BRACKET = 3;
export const NO_CONTROL = 4;
export const HEX_DIGIT = 5;
export const ESCAPE = 6;
export const DIGIT = 7;
export const VALUE = 8;
export const LEADING_ZERO = 9;

/** A node of the tree of shapes: the key in its quotes, which of its bytes count, and how many there are. */
export const KEY = 0;
export const KEY_BYTES = 32;
export const KEY_MASK = 32;
export const KEY_LENGTH = 36;
export const KINDS = 40;
/** Position in the page of the first record that has this member. */
export const FIRST_RECORD = 44;
/** Number of the object in which this member was last seen, to notice one that stands twice. */
export const STAMP = 48;
/** The member that came after this one last time, so that the next key is compared before it is looked up. */
export const FOLLOWER = 52;
/** The first member of the object last time. */
export const LEADER = 56;
export const FLAGS = 60;
/** How many members the contract requires. */
export const REQUIRED_MEMBERS = 64;
export const ELEMENT = 68;
/** The next member of the same object in the contract; the last one leads to the first. */
export const SIBLING = 72;
export const FIRST_MEMBER = 76;
/** Two cache lines; what each value needs is in the first. */
export const NODE_BYTES = 128;

/** Flags of a node. */
export const LEXICAL_NUMBER = 1;
export const LEXICAL_TIMESTAMP = 2;
export const OPAQUE = 4;
export const REQUIRED = 8;
export const ID = 16;
