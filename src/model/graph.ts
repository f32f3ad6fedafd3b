import { ModelError } from './model-error.js';

/** A model and what it reads; names are lower case. */
export interface ModelNode {
  readonly name: string;
  readonly references: readonly string[];
}

/**
 * Puts models into an order in which each comes after the models that it reads; by name where that leaves a choice.
 * @param known tables and views that are there before any model runs
 * Throws ModelError (MODEL_GRAPH) for a cycle, and for a reference that is neither a model nor known.
 */
export function planModels(models: readonly ModelNode[], known: ReadonlySet<string>): readonly string[] {
  const byName = new Map(models.map((model) => [model.name, model]));
  const order = new Set<string>();
  const visit = (model: ModelNode, path: readonly string[]): void => {
    if (order.has(model.name)) return;
    if (path.includes(model.name)) throw cycle([...path.slice(path.indexOf(model.name)), model.name]);
    for (const reference of [...model.references].sort()) {
      const next = byName.get(reference);
      if (next !== undefined) visit(next, [...path, model.name]);
      else if (!known.has(reference)) throw unknown(model.name, reference);
    }
    order.add(model.name);
  };
  for (const name of [...byName.keys()].sort()) {
    const model = byName.get(name);
    if (model !== undefined) visit(model, []);
  }
  return [...order];
}

function cycle(path: readonly string[]): ModelError {
  return new ModelError('MODEL_GRAPH', `models read each other in a circle: ${path.join(' → ')}`, {
    hint: 'take what they share into a model of its own',
  });
}

function unknown(model: string, reference: string): ModelError {
  return new ModelError(
    'MODEL_GRAPH',
    `model ${model} reads ${reference}, which is neither a model nor a table`,
    {
      hint: 'lotlake tables lists the names there are',
    },
  );
}
