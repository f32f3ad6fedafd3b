import type { LotlakeError } from '../base/config/lotlake-error.js';
import { unknownName } from '../base/config/unknown-name.js';
import type { Model } from '../core/model/model-files.js';
import type { ModelNode } from '../core/model/run-models.js';

/**
 * The models that a selection names, in their order. Its parts are separated by commas or spaces: `name`, `name+` with
 * all that depends on it, `+name` with all that it needs, `+name+`. It also names the views and the fit of prices that a
 * model reads, since they have no file. Throws MODEL_UNKNOWN.
 */
export function selectModels<M extends ModelNode & Pick<Model, 'exists'>>(
  models: readonly M[],
  selection: string,
): M[] {
  const found = new Set<string>();
  const reads = (name: string) => models.find((model) => model.name === name)?.references ?? [];
  const readBy = (name: string) =>
    models.filter(({ references }) => references.includes(name)).map((model) => model.name);
  for (const part of selection.split(/[\s,]+/).filter((each) => each !== '')) {
    const [, needs = '', given = '', feeds = ''] = /^(\+?)(.*?)(\+?)$/s.exec(part) ?? [];
    const name = given.toLowerCase();
    if (!models.some((model) => model.name === name)) throw unknownModel(name, models);
    found.add(name);
    if (needs !== '') addAll(found, name, reads);
    if (feeds !== '') addAll(found, name, readBy);
  }
  const isView = (name: string) =>
    models.some((model) => model.name === name && (model.exists ?? 'file') !== 'file');
  for (const name of found) for (const read of reads(name)) if (isView(read)) found.add(read);
  return models.filter(({ name }) => found.has(name));
}

/** Adds a name, and every name that `next` reaches from it. */
function addAll(found: Set<string>, name: string, next: (name: string) => readonly string[]): void {
  const closed = new Set([name]);
  for (const each of closed) for (const other of next(each)) closed.add(other);
  for (const each of closed) found.add(each);
}

/** The error for a name that no model has. */
export const unknownModel = (given: string, known: readonly { readonly name: string }[]): LotlakeError =>
  unknownName('MODEL_UNKNOWN', 'there is no mart', given, known);
