import { createRequire } from 'node:module';
import { z } from 'zod';
import { byName } from './json.js';
import { packageFile } from './package-root.js';

const sentences = z.record(z.string(), z.string());

/**
 * What answers the question of a mart that an earlier lotlake had; undefined for any other name. Its parser is loaded only
 * then: every query could meet such a name, and few do.
 */
export function insteadOf(name: string): string | undefined {
  const { load }: typeof import('js-yaml') = createRequire(import.meta.url)('js-yaml');
  return byName(sentences.parse(load(packageFile('sql/models/gone.yml'))))[name.toLowerCase()];
}
