/**
 * Makes `dist/cli`, the command line as users start it: its code and that of its dependencies, without what a command never
 * calls, in a file for each group of commands that share it. Loading some 200 modules one by one took half of a start. What
 * is native stays apart, and so do the AWS SDK and the server for agents, which few use (docs/decisions/0050-fast-starts.md).
 */
import {
  chmodSync,
  copyFileSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

const root = join(import.meta.dirname, '..', '..');
const dir = join(root, 'dist', 'cli');

/** Takes the files of DuckDB's package into the bundle, which `base/duck/api.ts` requires one by one. */
function withDuckdb(code, id) {
  if (!id.endsWith('/base/duck/api.ts')) return undefined;
  const names = [...code.matchAll(/\bload\(\s*('[^']+'),?\s*\)/g)].map(([call, name], i) => ({
    call,
    name,
    local: `duckdb_${i}`,
  }));
  const bundled = names.reduce((text, { call, local }) => text.replace(call, local), code);
  const imports = names.map(({ name, local }) => `import ${local} from ${name};\n`);
  return { code: imports.join('') + bundled, map: null };
}

rmSync(dir, { recursive: true, force: true });
const bundle = await rolldown({
  input: {
    main: join(root, 'src', 'cli', 'main.ts'),
    // A process of the pages.
    desk: join(root, 'src', 'ask', 'explore', 'desk.ts'),
  },
  platform: 'node',
  external: [
    /^@duckdb\/node-bindings/,
    /^@aws-sdk\//,
    /^@modelcontextprotocol\//,
    /^pg-(native|cloudflare)$/,
  ],
  plugins: [{ name: 'duckdb', transform: withDuckdb }],
  resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
});
const { output } = await bundle.write({
  dir,
  format: 'esm',
  sourcemap: true,
  chunkFileNames: '[name]-[hash].js',
});

/** The scripts of the pages of `lotlake explore`, each whole by itself. */
const pages = join(root, 'src', 'ask', 'explore', 'browser');
const scripts = [];
for (const name of ['explore', 'editor', 'auctions', 'report']) {
  const script = await rolldown({ input: join(pages, `${name}.ts`), platform: 'browser' });
  const file = join(root, 'dist', 'site', `${name}.js`);
  scripts.push(...(await script.write({ file, format: 'esm', minify: true })).output);
}

/** The packages whose code is in the bundles, which come with their licences. */
const packages = [...output, ...scripts]
  .flatMap(({ moduleIds = [] }) => moduleIds)
  .flatMap((path) => /^.*node_modules\/(?:@[^/]+\/)?[^/]+/.exec(path) ?? []);
const licences = [...new Set(packages)].sort().map((folder) => {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const file = readdirSync(folder).find((each) => /^(licen[cs]e|copying)/i.test(each));
  const text = file === undefined ? `Licence: ${license}` : readFileSync(join(folder, file), 'utf8').trim();
  return `${name} ${version}\n\n${text}\n`;
});
writeFileSync(join(dir, 'licences.txt'), licences.join(`\n${'-'.repeat(80)}\n\n`));
const start = join(dir, 'lotlake.cjs');
copyFileSync(join(import.meta.dirname, 'lotlake.cjs'), start);
chmodSync(start, 0o755);

// npm links the commands of dependencies, not that of the package itself. If package.json named the command, npx would
// install the clone into its cache and build it again, so `npm pack` alone adds it.
const links = join(root, 'node_modules', '.bin');
if (existsSync(links)) {
  rmSync(join(links, 'lotlake'), { force: true });
  symlinkSync(join('..', '..', 'dist', 'cli', 'lotlake.cjs'), join(links, 'lotlake'));
}
