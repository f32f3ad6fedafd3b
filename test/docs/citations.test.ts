import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { describe, expect, it } from 'vitest';
import { packageRoot } from '../../src/base/config/package-root.js';

/** What the build writes; a clone has it after `npm ci`. */
const MADE: readonly string[] = ['docs/ask/tables.md', 'docs/change/endpoints.md', 'docs/run/settings.md'];

const read = (path: string): string => readFileSync(join(packageRoot, path), 'utf8');

/** Files below a folder whose names end so, as paths below the package. */
const filesIn = (folder: string, ending: RegExp): string[] =>
  readdirSync(join(packageRoot, folder), { recursive: true, encoding: 'utf8' })
    .filter((path) => ending.test(path) && !path.startsWith('records'))
    .map((path) => join(folder, path));

/** Anchors of the headings of a page, as the hosts of git make them. */
function anchorsOf(page: string): string[] {
  const text = read(page).replaceAll(/^```.*?^```$/gms, '');
  return [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

/** Why a page, or a heading of it, cannot be found; undefined if it can. */
function whyMissing(page: string, heading: string | undefined): string | undefined {
  if (MADE.includes(page))
    return heading === undefined ? undefined : 'a heading of a page that is not in git';
  if (!existsSync(join(packageRoot, page))) return 'no such file';
  return heading === undefined || anchorsOf(page).includes(heading) ? undefined : 'no such heading';
}

/** The page of the facts of the service, which the code cites by its name alone. */
const SERVICE = 'docs/change/service.md';

const SOURCES = [
  ...['src', 'pipelines', 'test', 'sql'].flatMap((folder) => filesIn(folder, /\.(ts|mjs|sql|yml)$/)),
  ...filesIn('notebooks', /\.ipynb$/),
  ...filesIn('site', /\.\w+$/),
].filter((path) => path !== 'test/docs/citations.test.ts');

const PAGES = [
  ...readdirSync(packageRoot).filter((name) => name.endsWith('.md')),
  ...['docs', 'notebooks', 'output', 'src', '.github'].flatMap((folder) =>
    existsSync(join(packageRoot, folder)) ? filesIn(folder, /\.md$/) : [],
  ),
].filter((page) => !MADE.includes(page) && !page.includes('node_modules'));

describe('a citation in the code', () => {
  it('of a page finds the file and the heading', () => {
    const missing = SOURCES.flatMap((file) =>
      [...read(file).matchAll(/\bdocs\/(?:[\w-]+\/)*[\w-]+\.md(?:#([\w-]+))?/g)].flatMap(
        ([cited, heading]) => {
          const why = whyMissing(cited.replace(/#.*/, ''), heading);
          return why === undefined ? [] : [`${file}: ${cited}: ${why}`];
        },
      ),
    );
    expect(missing).toEqual([]);
  });

  it('of a fact of the service names the heading that has it', () => {
    const headings = anchorsOf(SERVICE);
    const cited = SOURCES.flatMap((file) =>
      [...read(file).matchAll(/(?<![\w/-])service\.md(?:#([\w-]+))?/g)].map(({ 1: heading }) => ({
        file,
        heading,
      })),
    );
    expect(cited.length).toBeGreaterThan(50);
    expect(cited.filter(({ heading }) => heading === undefined || !headings.includes(heading))).toEqual([]);
  });

  it('names nothing that is not in the project', () => {
    const strange = [...SOURCES, ...PAGES].filter((file) =>
      /(?<!\w)(field-notes|reports|spec\/\w+)\.md\b|\bDESIGN\b/.test(read(file)),
    );
    expect(strange).toEqual([]);
  });

  it('of a decision finds it', () => {
    const known = readdirSync(join(packageRoot, 'docs', 'decisions'));
    const missing = SOURCES.flatMap((file) =>
      [...read(file).matchAll(/\bdocs\/decisions\/(\d{4})/g)]
        .filter(([, number = '']) => !known.some((name) => name.startsWith(`${number}-`)))
        .map(([cited]) => `${file}: ${cited}`),
    );
    expect(missing).toEqual([]);
  });
});

describe('a recipe of CONTRIBUTING', () => {
  it('names files and scripts that exist', () => {
    const text = read('CONTRIBUTING.md');
    const paths = [...text.matchAll(/`((?:src|sql|test|docs|site|\.github)\/[\w./-]*[\w/])`/g)].map(
      ([, path = '']) => path,
    );
    expect(paths.length).toBeGreaterThan(30);
    expect(paths.filter((path) => !MADE.includes(path) && !existsSync(join(packageRoot, path)))).toEqual([]);
    const { scripts } = JSON.parse(read('package.json'));
    const called = [...text.matchAll(/npm run ([\w:]+)/g)].map(([, name = '']) => name);
    expect(called.filter((name) => !(name in scripts))).toEqual([]);
    const projects = [...text.matchAll(/--project (\w+)/g)].map(([, name = '']) => name);
    expect(projects.filter((name) => !read('vitest.config.ts').includes(`'${name}'`))).toEqual([]);
  });
});

describe('a decision', () => {
  it('is in force: what was replaced is told by what replaced it', () => {
    const statuses = filesIn('docs/decisions', /\.md$/).map((page) => [
      page,
      /Status: (\w+)/.exec(read(page))?.[1],
    ]);
    expect(statuses.filter(([, status]) => status !== 'accepted')).toEqual([]);
  });
});

describe('a link of a page', () => {
  it('finds the file and the heading', () => {
    const missing = PAGES.flatMap((page) =>
      [...read(page).matchAll(/\]\(([^()\s]+)\)/g)].flatMap(([, target = '']) => {
        if (/^\w+:/.test(target)) return [];
        const [path = '', heading] = target.split('#');
        const why = whyMissing(path === '' ? page : normalize(join(dirname(page), path)), heading);
        return why === undefined ? [] : [`${page}: ${target}: ${why}`];
      }),
    );
    expect(missing).toEqual([]);
  });
});
