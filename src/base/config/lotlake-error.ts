import { redacted } from './redact.js';

/**
 * Stages of errors by the prefix of their code. Most are folders of the straight line; usage and config come before the
 * first. Errors that lotlake did not raise are of the system or internal.
 */
const stages = {
  SYSTEM: 'system',
  RUN: 'system',
  INTERNAL: 'internal',
  USAGE: 'usage',
  CONFIG: 'config',
  SPARK: 'spark',
  SERVICE: 'service',
  EXTRACT: 'extract',
  LAND: 'land',
  LOAD: 'load',
  LAKE: 'lake',
  RECONCILE: 'reconcile',
  MODEL: 'model',
  PUBLISH: 'publish',
  ICEBERG: 'publish',
  MIRROR: 'mirror',
  SYNC: 'sync',
  QUERY: 'query',
  EXPLORE: 'query',
  EXPORT: 'export',
  DOCS: 'docs',
  SANDBOX: 'sandbox',
} as const;

export type Stage = (typeof stages)[keyof typeof stages];

/** Stable name of an error, listed in docs/run/errors.md. */
export type Code = `${keyof typeof stages}_${string}`;

/** Exit codes by how a run ends because of an error; 0 is success. */
export const exitCodes = {
  failed: 1,
  usage: 2,
  refused: 3,
  unavailable: 4,
  held: 5,
  locked: 6,
  interrupted: 130,
} as const;

export type Outcome = keyof typeof exitCodes;

/** What an error of lotlake carries beside its code and message. */
export interface ErrorFacts {
  readonly outcome?: Outcome | undefined;
  /** Whether the same call may succeed later. */
  readonly retryable?: boolean;
  /** Milliseconds to wait before the same call, if it is retryable. */
  readonly retryAfter?: number | undefined;
  /** What the user can do next. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/** Base of every error that lotlake raises on purpose. Message and hint hold no key and have a limited length. */
export class LotlakeError extends Error {
  override readonly name: string = 'LotlakeError';
  readonly stage: Stage;
  readonly outcome: Outcome;
  readonly retryable: boolean;
  readonly retryAfter: number | undefined;
  readonly hint: string | undefined;

  constructor(
    readonly code: Code,
    message: string,
    facts: ErrorFacts = {},
  ) {
    super(shortened(message), facts.cause === undefined ? {} : { cause: facts.cause });
    this.stage = stages[code.slice(0, code.indexOf('_')) as keyof typeof stages];
    this.outcome = facts.outcome ?? 'failed';
    this.retryable = facts.retryable ?? false;
    this.retryAfter = facts.retryAfter;
    this.hint = facts.hint === undefined ? undefined : shortened(facts.hint);
  }
}

/** A setting that is missing or wrong. */
export class ConfigError extends LotlakeError {
  override readonly name = 'ConfigError';
  constructor(message: string, hint?: string) {
    super('CONFIG_INVALID', message, { outcome: 'usage', hint });
  }
}

/** Most characters of a message. A service may say any length. */
const MOST_MESSAGE = 4000;

/** A message that may be kept and shown: cut to a length, and without the key. */
function shortened(message: string): string {
  return redacted(message.length > MOST_MESSAGE ? `${message.slice(0, MOST_MESSAGE)}…` : message);
}

/** The message of anything that was thrown. It may be kept and shown. */
export function messageOf(error: unknown): string {
  return shortened(error instanceof Error ? error.message : String(error));
}

/** An error and what caused it. */
export function causesOf(error: unknown): readonly Error[] {
  return error instanceof Error ? [error, ...causesOf(error.cause)] : [];
}

/** The system's code of an error, such as `ENOENT`; undefined if it has none. */
export function codeOf(error: unknown): unknown {
  return error instanceof Error ? Reflect.get(error, 'code') : undefined;
}
