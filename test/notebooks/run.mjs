// Executes the notebooks over lakes of the sandbox, and reads exports in pandas: npm run test:notebooks [folder].
// The executed notebooks, with their charts, stay in the folder where one is named.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '..', '..');
const notebooks = join(root, 'notebooks');

function run(name, args, { cwd = root, ...env } = {}) {
  const { status, error } = spawnSync(name, args, {
    cwd,
    stdio: 'inherit',
    env: { ...process.env, ...env },
  });
  if (status === 0) return;
  process.stderr.write(
    `${name} ${args.join(' ')} failed${error === undefined ? '' : `: ${error.message}`}\n`,
  );
  process.exit(1);
}

/** Python with the packages of the notebooks; made once for each list of packages. */
function virtualEnvironment() {
  const requirements = join(notebooks, 'requirements.txt');
  const version = createHash('sha256').update(readFileSync(requirements)).digest('hex').slice(0, 12);
  const folder = join(root, 'node_modules', '.cache', 'lotlake-notebooks', version);
  const python = join(folder, 'bin', 'python');
  if (existsSync(join(folder, 'complete'))) return python;
  rmSync(folder, { recursive: true, force: true });
  run('python3', ['-m', 'venv', folder]);
  run(python, ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '-r', requirements]);
  writeFileSync(join(folder, 'complete'), '');
  return python;
}

const python = virtualEnvironment();
const output = mkdtempSync(join(tmpdir(), 'lotlake-notebooks-'));
process.on('exit', () => rmSync(output, { recursive: true, force: true }));
const copies = resolve(process.argv[2] ?? join(output, 'executed'));
mkdirSync(copies, { recursive: true });

const pages = readdirSync(notebooks).filter((name) => name.endsWith('.ipynb'));
const paths = pages.map((name) => join(notebooks, name));
// What was sold can be counted only since the first night, so only a second one knows everything.
const nights = [
  { lake: 'small', vehicles: '20', clock: '2026-11-17', extent: 'part' },
  { lake: 'large', vehicles: '6000', clock: '2026-11-17', extent: 'part' },
  { lake: 'large', vehicles: '6000', clock: '2026-11-20', extent: 'whole' },
];
for (const { lake, vehicles, clock, extent } of nights) {
  const env = { LOTLAKE_OUTPUT: join(output, lake), LOTLAKE_LOG: 'warn' };
  const world = ['--vehicles', vehicles, '--clock', clock];
  process.stdout.write(`${vehicles} vehicles, ${clock}\n`);
  run(
    process.execPath,
    [join(root, 'dist/cli/lotlake.cjs'), 'run', 'nightly', '--sandbox', '--quiet', ...world],
    env,
  );
  run(python, ['-W', 'ignore', join(root, 'test/notebooks/execute.py'), extent, copies, ...paths], env);
}

// The Python of the pages, each block by itself, beside the lake that README makes.
const place = join(output, 'pages');
mkdirSync(join(place, 'output'), { recursive: true });
symlinkSync(join(output, 'large'), join(place, 'output', 'sandbox'));
for (const page of ['README.md', 'docs/ask/commands.md', 'docs/ask/engines.md']) {
  const blocks = readFileSync(join(root, page), 'utf8').matchAll(/^```python\n(.*?)^```$/gms);
  for (const [, code] of blocks) if (!code.includes('pyspark')) run(python, ['-c', code], { cwd: place });
}

const reader = ['vitest', 'run', '--project', 'soak', 'test/soak/export-readers.soak.ts'];
run('npx', reader, { LOTLAKE_PYTHON: python });
