import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe } from 'vitest';
import { packageRoot } from '../../../src/base/config/package-root.js';

const folder = join(packageRoot, '.engines');
const NOT_MADE = 'run npm run test:engines, which makes it';

/** A part of the environment that test/engines/setup creates. */
type Part = 'python' | 'servers' | 'agents' | 'dbt' | 'spark-jars' | 'catalog-jars';

/** Path of a part, or of a file in it. */
export const engine = (part: Part, ...path: readonly string[]): string => join(folder, part, ...path);

const missing: Partial<Record<Part, string>> = existsSync(join(folder, 'missing.json'))
  ? JSON.parse(readFileSync(join(folder, 'missing.json'), 'utf8'))
  : {
      python: NOT_MADE,
      servers: NOT_MADE,
      agents: NOT_MADE,
      dbt: NOT_MADE,
      'spark-jars': NOT_MADE,
      'catalog-jars': NOT_MADE,
    };

/**
 * Declares suites that need parts of the environment. If a part is missing, they are skipped, and the title says why.
 */
export function describeWith(parts: readonly Part[], title: string, suites: () => void): void {
  const lacking = parts.filter((part) => missing[part] !== undefined);
  if (lacking.length === 0) return void describe(title, suites);
  const reasons = lacking.map((part) => `no ${part}: ${missing[part]}`).join('; ');
  describe.skip(`${title} (${reasons})`, suites);
}
