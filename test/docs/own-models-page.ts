import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/config/package-root.js';

/** The files of the example in docs/ask/your-own-models.md, by their paths below the folder of models. */
export function pageFiles(): Readonly<Record<string, string>> {
  const page = readFileSync(join(packageRoot, 'docs', 'ask', 'your-own-models.md'), 'utf8');
  const found = page.matchAll(/^`models\/([\w/]+\.\w+)`:\n\n```\w+\n(.*?)^```$/gms);
  return Object.fromEntries([...found].map(([, path = '', text = '']) => [path, text]));
}
