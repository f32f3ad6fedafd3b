/**
 * A tenth of what neither `npm test` nor the guard runs: npm run test:slice [number]. The number of commits chooses which, so that ten
 * commits in a row run all of it. It begins no suite that would end after its time: twenty minutes, or SLICE_MINUTES. What it
 * left, and what cannot run here, it names.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const SLICES = 10;
const MINUTES = Number(process.env.SLICE_MINUTES ?? 20);

/** Minutes of suites that take more than one on two quiet cores. */
const LONG = {
  'test/soak/model-based.soak.ts': 15,
  'test/soak/interrupted.soak.ts': 15,
  'test/engines/models.engines.ts': 18,
  'test/engines/readers.engines.ts': 8,
  'test/engines/mirror.engines.ts': 7,
  'test/engines/store.engines.ts': 6,
  'test/engines/moments.engines.ts': 5,
  'test/engines/iceberg.engines.ts': 4,
  'test/engines/documented.engines.ts': 4,
  'test/engines/sync.engines.ts': 8,
  'test/engines/agents.engines.ts': 2,
  'test/engines/dbt.engines.ts': 3,
  'test/soak/changes.soak.ts': 14,
  'test/soak/changed-settings.soak.ts': 10,
  'test/soak/two-places.soak.ts': 4,
  'test/soak/year.soak.ts': 7,
  'test/operate/files.operate.ts': 6,
  'test/operate/cron.operate.ts': 6,
  'test/package/install.package.ts': 10,
  'test/pipelines/clocks.test.ts': 4,
  'test/pipelines/kill-matrix.test.ts': 8,
  'test/pipelines/survivors.test.ts': 5,
  'test/pipelines/keyframes.test.ts': 4,
  'test/docs/as-typed.test.ts': 4,
  'test/soak/planted-coverage.soak.ts': 3,
  'test/soak/planted-odds.soak.ts': 5,
  'test/soak/planted-prices.soak.ts': 2,
  'test/soak/planted-titles.soak.ts': 2,
  'test/soak/interrupt.soak.ts': 4,
  'test/soak/readers.soak.ts': 3,
  'test/soak/query-memory.soak.ts': 3,
  'test/pipelines/model-found.test.ts': 5,
  'test/pipelines/resume.test.ts': 4,
  'test/pipelines/order-of-nights.test.ts': 3,
  'test/pipelines/unchanged.test.ts': 2,
  'test/hostile/models/models.hostile.ts': 5,
  'test/notebooks/run.mjs': 4,
};

// A year of nights takes half an hour; a quarter shows the same growth.
const env = { LOTLAKE_NIGHTS: '90', ...process.env };
const run = (command, args, options) =>
  spawnSync(command, args, { cwd: root, encoding: 'utf8', env, ...options });

/** Suites of a project, by their paths. */
function suitesOf(project) {
  const { stdout } = run('npx', ['vitest', 'list', '--project', project, '--filesOnly', '--json']);
  return JSON.parse(stdout).map(({ file }) => ({ project, file: file.slice(root.length + 1) }));
}

const guarded = new Set(suitesOf('guard').map(({ file }) => file));
// The guard runs random suites in a smaller size.
const isNew = ({ file }) => !guarded.has(file) || /\.soak\.ts$/.test(file);
const NOTEBOOKS = { project: 'notebooks', file: 'test/notebooks/run.mjs' };
const suitesOfAll = ['soak', 'hostile', 'operate', 'package', 'engines'].flatMap(suitesOf);
const all = [...suitesOfAll.filter(isNew), NOTEBOOKS];
const minutesOf = ({ file }) => LONG[file] ?? 0.7;

/** The suites of each slice: the longest first, each into the slice that has least. */
const slices = Array.from({ length: SLICES }, () => ({ minutes: 0, suites: [] }));
for (const suite of [...all].sort((a, b) => minutesOf(b) - minutesOf(a) || (a.file < b.file ? -1 : 1))) {
  const least = slices.reduce((a, b) => (b.minutes < a.minutes ? b : a));
  least.suites.push(suite);
  least.minutes += minutesOf(suite);
}

const commits = Number(run('git', ['rev-list', '--count', 'HEAD']).stdout);
const number = Number(process.argv[2] ?? commits % SLICES);
const { suites, minutes } = slices[number];
const say = (text) => process.stdout.write(`${text}\n`);
say(
  `slice ${number} of ${SLICES}: ${suites.length} of ${all.length} suites, about ${Math.round(minutes)} minutes`,
);
for (const { file } of suites) say(`  ${file}`);
if (suites.some(({ project }) => project === 'engines'))
  run('node', ['test/engines/setup/setup.mjs'], { stdio: 'inherit' });

const folder = mkdtempSync(join(tmpdir(), 'lotlake-slice-'));
const until = Date.now() + MINUTES * 60_000;
const failed = [];
const left = [];
for (const suite of suites) {
  const { project, file } = suite;
  if (Date.now() + minutesOf(suite) * 60_000 > until) {
    left.push(file);
    continue;
  }
  const report = join(folder, 'report.json');
  rmSync(report, { force: true });
  const began = Date.now();
  const reporters = ['--reporter=json', `--outputFile.json=${report}`];
  const command =
    project === 'notebooks'
      ? ['node', file]
      : ['npx', 'vitest', 'run', '--project', project, file, ...reporters];
  const { status, stdout, stderr } = run(command[0], command.slice(1), { maxBuffer: 1 << 28 });
  const seconds = Math.round((Date.now() - began) / 1000);
  if (!existsSync(report)) {
    // A program of its own, or a suite that could not be loaded.
    say(`${file}: ${status === 0 ? 'passed' : `failed\n${stdout}${stderr}`} (${seconds} s)`);
    if (status !== 0) failed.push(file);
    continue;
  }
  const counts = JSON.parse(readFileSync(report, 'utf8'));
  const { numPassedTests: passed, numPendingTests: skipped, numFailedTests: red, testResults = [] } = counts;
  say(`${file}: ${passed} passed, ${skipped} skipped, ${red} failed (${seconds} s)`);
  if (status === 0) continue;
  failed.push(file);
  for (const { assertionResults } of testResults)
    for (const { fullName, failureMessages } of assertionResults.filter(({ status }) => status === 'failed'))
      say(`  ${fullName}\n    ${failureMessages.join('\n').slice(0, 2000)}`);
}
rmSync(folder, { recursive: true, force: true });
if (left.length > 0) say(`left, because ${MINUTES} minutes were over: ${left.join(', ')}`);
if (failed.length > 0) say(`failed: ${failed.join(', ')}`);
process.exitCode = failed.length > 0 ? 1 : 0;
