// Makes the environment of `npm run test:engines` in .engines: Python with its readers, S3 servers, jars for Spark and for
// a REST catalog. A part is made again only when its definition changed. What the machine lacks is named, and the suites
// that need it are skipped with that reason.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const here = dirname(fileURLToPath(import.meta.url));
const engines = join(here, '..', '..', '..', '.engines');

/** Modules of Go, with their versions: two servers that speak S3. */
const SERVERS = [
  // No release of MinIO builds under its own name; this is its last commit.
  'github.com/minio/minio@v0.0.0-20260212201848-7aac2a2c5b7c',
  'github.com/versity/versitygw@v1.8.0',
];

/** Clients of the Model Context Protocol: of both lines of its SDK for TypeScript, and of the one for Python. */
const CLIENTS = {
  npm: ['@modelcontextprotocol/client@2.4.0', '@modelcontextprotocol/sdk@1.32.2'],
  pip: ['mcp==2.3.0'],
};

/** dbt over DuckDB. */
const DBT = ['dbt-core==1.11.16', 'dbt-duckdb==1.10.1'];

const JAVA = { command: 'java', args: ['-version'], is: 'Java 17 or newer' };

/** Each part: what the machine must have, what defines it, and how it is made in its folder. */
const PARTS = [
  {
    name: 'python',
    about: 'Spark, pyiceberg, polars, DuckDB and ClickHouse for Python, about 2 GB',
    needs: [
      { command: 'python3', args: ['-m', 'venv', '--help'], is: 'Python 3.10 or newer with venv' },
      JAVA,
    ],
    definition: read('requirements.txt'),
    make(folder) {
      run('python3', ['-m', 'venv', folder]);
      const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check'];
      run(join(folder, 'bin', 'python'), [...pip, '-r', join(here, 'requirements.txt')]);
    },
  },
  {
    name: 'servers',
    about: 'MinIO and versitygw, built from source',
    needs: [{ command: 'go', args: ['version'], is: 'Go 1.24 or newer' }],
    definition: SERVERS.join('\n'),
    make(folder) {
      const into = { ...process.env, GOBIN: folder };
      run('go', ['install', SERVERS[0]], into);
      run('go', ['install', SERVERS[1].replace('@', '/cmd/versitygw@')], into);
    },
  },
  {
    name: 'agents',
    about: 'clients of the Model Context Protocol, about 100 MB',
    needs: [{ command: 'python3', args: ['-m', 'venv', '--help'], is: 'Python 3.10 or newer with venv' }],
    definition: JSON.stringify(CLIENTS),
    make(folder) {
      run('npm', ['install', '--no-audit', '--no-fund', '--prefix', folder, ...CLIENTS.npm]);
      run('python3', ['-m', 'venv', join(folder, 'python')]);
      run(join(folder, 'python', 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', ...CLIENTS.pip]);
    },
  },
  {
    name: 'dbt',
    about: 'dbt over DuckDB, about 200 MB',
    needs: [{ command: 'python3', args: ['-m', 'venv', '--help'], is: 'Python 3.10 or newer with venv' }],
    definition: JSON.stringify(DBT),
    make(folder) {
      run('python3', ['-m', 'venv', folder]);
      run(join(folder, 'bin', 'python'), ['-m', 'pip', 'install', '--quiet', ...DBT]);
    },
  },
  ...['spark', 'catalog'].map((name) => ({
    name: `${name}-jars`,
    about:
      name === 'spark' ? 'Iceberg and S3A for Spark, about 120 MB' : 'a REST catalog server, about 50 MB',
    needs: [JAVA, { command: 'mvn', args: ['-version'], is: 'Maven' }],
    definition: read(`${name}.xml`),
    make(folder) {
      const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${folder}`];
      const alone = name === 'spark' ? ['-DexcludeTransitive=true'] : [];
      run('mvn', ['-q', '-B', '-f', join(here, `${name}.xml`), ...copy, ...alone]);
    },
  })),
];

function read(name) {
  return readFileSync(join(here, name), 'utf8');
}

function run(command, args, env = process.env) {
  const { status, error } = spawnSync(command, args, { stdio: ['ignore', 'inherit', 'inherit'], env });
  if (status !== 0)
    throw new Error(`${command} ${args.join(' ')} failed${error ? `: ${error.message}` : ''}`);
}

/** Makes a part, or says why it cannot be made. Returns the reason, or nothing. */
function provide({ name, about, needs, definition, make }) {
  const lacking = needs.filter(({ command, args }) => spawnSync(command, args).status !== 0);
  if (lacking.length > 0) return `this machine lacks ${lacking.map(({ is }) => is).join(' and ')}`;
  const folder = join(engines, name);
  const complete = join(engines, `${name}.complete`);
  const version = createHash('sha256').update(definition).digest('hex');
  if (existsSync(complete) && readFileSync(complete, 'utf8') === version) return undefined;
  rmSync(folder, { recursive: true, force: true });
  rmSync(complete, { force: true });
  process.stdout.write(`engines: making ${name} (${about})\n`);
  const begun = Date.now();
  try {
    make(folder);
  } catch (error) {
    return error.message;
  }
  writeFileSync(complete, version);
  process.stdout.write(`engines: made ${name} in ${Math.round((Date.now() - begun) / 1000)} s\n`);
  return undefined;
}

mkdirSync(engines, { recursive: true });
const missing = {};
for (const part of PARTS) {
  const reason = provide(part);
  if (reason === undefined) continue;
  missing[part.name] = reason;
  process.stdout.write(`engines: no ${part.name}: ${reason}; the suites that need it are skipped\n`);
}
writeFileSync(join(engines, 'missing.json'), JSON.stringify(missing));
