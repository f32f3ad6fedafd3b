import { mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packageRoot } from '../../src/base/config/package-root.js';
import { openSession } from '../../src/base/duck/session.js';
import { readManifest } from '../../src/core/lake/manifest.js';
import { viewOn } from '../../src/core/lake/views.js';
import { readChecks } from '../../src/core/model/checks.js';
import { isTestedNightly, runDataTests } from '../../src/core/model/data-tests.js';
import { markdownTable } from '../../src/core/model/dictionary.js';
import { readModels } from '../../src/core/model/model-files.js';
import { runModels } from '../../src/core/model/run-models.js';

/** Processor seconds of each model, of the data tests of each model (`<model> tests`) and of each check. */
export type ModelTimes = Readonly<Record<string, number>>;

/** Computes all models over the published lake below `output` and runs all data tests, one after the other on one thread. */
export async function modelTimes(output: string): Promise<ModelTimes> {
  const snapshot = realpathSync(join(output, 'lake', 'current'));
  const target = join(output, 'growth');
  rmSync(target, { recursive: true, force: true });
  mkdirSync(target);
  const session = await openSession({ memory: '8GB', threads: 1, temp: join(output, 'spill') });
  const times: Record<string, number> = {};
  let begun: { readonly name: string; readonly at: number } | undefined;
  const next = (name?: string): void => {
    const at = processorSeconds();
    if (begun !== undefined) times[begun.name] = at - begun.at;
    begun = name === undefined ? undefined : { name, at };
  };
  try {
    const { connection } = session;
    const { tables } = readManifest(snapshot);
    for (const [name, table] of Object.entries(tables))
      await connection.run(viewOn(snapshot, { ...table, name }));
    await runModels(connection, { target, onModel: (name) => next(name) });
    for (const model of readModels().filter(isTestedNightly)) {
      next(`${model.name} tests`);
      await runDataTests(connection, { models: [model], checks: [] });
    }
    for (const check of readChecks()) {
      next(`check ${check.test}`);
      await runDataTests(connection, { models: [], checks: [check] });
    }
    next();
    return times;
  } finally {
    session.close();
    rmSync(target, { recursive: true, force: true });
  }
}

/** Processor time of this process. */
export function processorSeconds(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1e6;
}

/** A model, tests or check at two sizes: seconds at the larger one, its share of all, and its growth over linear growth. */
export interface Growth {
  readonly name: string;
  readonly less: number;
  readonly more: number;
  readonly share: number;
  readonly growth: number;
}

/** Compares the times at two sizes of a lake, the slowest first. @param factor how many times larger the second one is */
export function growthOf(less: ModelTimes, more: ModelTimes, factor: number): readonly Growth[] {
  const all = Object.values(more).reduce((sum, seconds) => sum + seconds, 0);
  return Object.entries(more)
    .map(([name, seconds]) => {
      const before = less[name] ?? 0;
      return { name, less: before, more: seconds, share: seconds / all, growth: seconds / before / factor };
    })
    .sort((a, b) => b.more - a.more);
}

const DOCUMENT = join(packageRoot, 'docs', 'change', 'performance.md');
const PLACE = /(<!-- models: npm run bench writes this table -->\n).*?(<!-- end of models -->)/s;

/** Writes the slowest models and tests, those that take at least a percent of all, into docs/change/performance.md. */
export function writeBudget(growths: readonly Growth[], [less, more]: readonly [number, number]): void {
  const cells = ({ name, ...figures }: Growth): string[] => [
    name,
    figures.less.toFixed(2),
    figures.more.toFixed(2),
    `${(figures.share * 100).toFixed(1)} %`,
    figures.growth.toFixed(2),
  ];
  const shown = growths.filter(({ share }) => share >= 0.01);
  const others = growths.filter(({ share }) => share < 0.01);
  const sum = (name: string, of: readonly Growth[]): Growth => {
    const total = (key: 'less' | 'more' | 'share'): number => of.reduce((all, each) => all + each[key], 0);
    const growth = total('more') / total('less') / (more / less);
    return { name, less: total('less'), more: total('more'), share: total('share'), growth };
  };
  const sums = [sum(`${others.length} others`, others), sum('all', growths)];
  const at = (vehicles: number): string => `s at ${vehicles.toLocaleString('en')}`;
  const head = ['model, tests or check', at(less), at(more), 'share', '× linear'];
  const table = markdownTable([head, ...[...shown, ...sums].map(cells)]);
  const text = readFileSync(DOCUMENT, 'utf8');
  writeFileSync(DOCUMENT, text.replace(PLACE, `$1\n${table}\n\n$2`));
}
