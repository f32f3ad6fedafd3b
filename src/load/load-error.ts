import { causesOf, LotlakeError } from '../config/lotlake-error.js';
import { isOutOfMemory } from '../duck/session.js';
import { diskFullError } from '../lake/lake-error.js';

/** Landed pages could not be turned into tables. */
export class LoadError extends LotlakeError {
  override readonly name = 'LoadError';
  /** File of the page that could not be loaded; undefined where it may be one of several. */
  readonly page: string | undefined;
  constructor(message: string, { page, ...rest }: { page?: string; hint?: string; cause?: unknown } = {}) {
    super(message, { code: 'LOAD_FAILED', stage: 'load', ...rest });
    this.page = page;
  }
}

/** Whether a page could not be loaded for what it holds, and not for want of memory, disk or open files. */
export function isOfPage(error: LoadError): boolean {
  if (error.page === undefined || isOutOfMemory(error) || diskFullError(error, '') !== undefined)
    return false;
  return !causesOf(error).some(
    (cause) => 'syscall' in cause || cause.message.startsWith('IO Error: Cannot open file'),
  );
}
