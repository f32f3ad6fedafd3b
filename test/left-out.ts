import { readdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Reporter, TestModule, Vitest } from 'vitest/node';

/** Prints at the end of `npm test` which suites only the slow scripts run, and what was skipped. */
export class LeftOut implements Reporter {
  #vitest: Vitest | undefined;

  onInit(vitest: Vitest): void {
    this.#vitest = vitest;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    // A run of named files leaves out the others on purpose.
    if (this.#vitest === undefined || process.argv.slice(2).some((given) => given !== 'run')) return;
    const { root } = this.#vitest.config;
    const run = new Set(modules.map(({ moduleId }) => relative(root, moduleId)));
    const left = (ending: string): string[] =>
      readdirSync(join(root, 'test'), { recursive: true, encoding: 'utf8' })
        .map((path) => join('test', path))
        .filter((path) => path.endsWith(ending) && !run.has(path));
    const slow = [...left('.test.ts'), ...left('.soak.ts')];
    const names = [...new Set(slow.map((path) => path.replace(/^.*\/(.*)\.(test|soak)\.ts$/, '$1')))].sort();
    process.stdout.write(`\n${slow.length} suites are left to npm run test:soak: ${names.join(', ')}\n`);
    process.stdout.write(`${left('.hostile.ts').length} suites are left to npm run test:hostile\n`);
    const skipped = modules.flatMap(({ children }) => [...children.allTests('skipped')]);
    for (const title of new Set(skipped.map(({ fullName }) => fullName)))
      process.stdout.write(`skipped: ${title}\n`);
  }
}
