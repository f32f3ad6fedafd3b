import { dirname } from 'node:path';
import { append, makeFolder } from '../../base/config/owned.js';
import { rejectsFile } from '../lake/staged.js';
import type { Reject } from './check-page.js';

export function addRejects(stage: string, passId: string, rejects: readonly Reject[]): void {
  const file = rejectsFile(stage, passId);
  makeFolder(dirname(file));
  append(file, rejects.map((reject) => `${JSON.stringify(reject, wellFormed)}\n`).join(''));
}

/** A value of a reject; a text without halves of surrogate pairs, which DuckDB does not read. */
const wellFormed = (_: string, value: unknown): unknown =>
  typeof value === 'string' ? value.toWellFormed() : value;
