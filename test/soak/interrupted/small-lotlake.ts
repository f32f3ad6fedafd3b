import { cpSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../../src/base/config/package-root.js';
import { LAYERS, type Model, readModelsOf } from '../../../src/core/model/model-files.js';
import type { Modelling } from '../../../src/core/model/own-models.js';

/** Stands in for the mart `sales`, which the closing job reads: no price is trusted. */
const SALES = {
  'sales.sql': `select lot_id, false as is_trusted, cast(null as varchar) as trust_reason from lots`,
  'sales.yml': `description: Lots without a trusted price.
grain: one row a lot
key: [lot_id]
columns:
  lot_id: {description: Id of the lot.}
  is_trusted: {description: Always false.}
  trust_reason: {description: Always null.}
`,
};

/** The command with one model, which takes half the time of the whole one, and that model for runs of this process. */
export interface SmallLotlake {
  /** Path of the command line. */
  readonly main: string;
  readonly modelling: Partial<Modelling>;
}

/** Copies the built command into a folder, with one model in place of all models, seeds and checks. */
export function makeSmallLotlake(folder: string): SmallLotlake {
  const inFolder = (...names: string[]): string => join(folder, ...names);
  cpSync(join(packageRoot, 'dist', 'cli'), inFolder('dist', 'cli'), { recursive: true });
  for (const name of ['dist/src', 'dist/site', 'node_modules', 'package.json', 'site'])
    symlinkSync(join(packageRoot, name), inFolder(name));
  const [models, seeds, checks] = ['models', 'seeds', 'checks'].map((name) => inFolder('sql', name));
  const left = [models, seeds, checks].map((path) => String(path).slice(folder.length));
  cpSync(join(packageRoot, 'sql'), inFolder('sql'), {
    recursive: true,
    filter: (path) => !left.includes(path.slice(packageRoot.length)),
  });
  for (const layer of LAYERS) mkdirSync(inFolder('sql', 'models', layer), { recursive: true });
  for (const name of ['seeds', 'checks']) mkdirSync(inFolder('sql', name));
  writeFileSync(inFolder('sql', 'models', 'gone.yml'), '{}\n');
  for (const [name, text] of Object.entries(SALES))
    writeFileSync(inFolder('sql', 'models', 'sales', name), text);
  const found = readModelsOf(inFolder('sql', 'models', 'sales'));
  const isSales = found.map((model): Model => ({ ...model, layer: 'sales' }));
  return { main: inFolder('dist', 'cli', 'main.js'), modelling: { models: isSales, checks: [] } };
}
