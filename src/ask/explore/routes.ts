import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Context, Hono, type MiddlewareHandler } from 'hono';
import { compress } from 'hono/compress';
import { HTTPException } from 'hono/http-exception';
import type { Config } from '../../base/config/config.js';
import { byName } from '../../base/config/json.js';
import { LotlakeError } from '../../base/config/lotlake-error.js';
import { makeFolder, ownNamed, writeNew } from '../../base/config/owned.js';
import { packageFile } from '../../base/config/package-root.js';
import { layoutOf } from '../../core/lake/layout.js';
import { html } from '../page/html.js';
import { readFollowed } from '../query/followed.js';
import { reportOf } from '../report/write-report.js';
import { protect } from './access.js';
import { carPage, followCar } from './car-page.js';
import { comparePage } from './compare-page.js';
import { asMeant, listOf, lotsPage, placeOf } from './find-page.js';
import { answersPage, homePage } from './home-page.js';
import { searchIn } from './lot-filters.js';
import { menuLine, type Page, piecesOf, problem, textOf } from './page-frame.js';
import { allowedPictures, allowPictures } from './pictures.js';
import { runsPage } from './runs-page.js';
import { changeSearch, type Folders, saveSearch, searchesPage, slugOf, watchQuery } from './searches-page.js';
import type { Follower, Served } from './shown.js';
import { NAME, savedQuery, sqlPage } from './sql-page.js';
import { type Ending, type Endings, send, textsOf } from './stream.js';
import { tablePage, tablesPage } from './tables-page.js';
import { valuePage } from './value-page.js';

/** Files that pages load, with their types. */
const ASSETS: Readonly<Record<string, readonly [file: string, type: string]>> = {
  'report.css': ['site/report.css', 'text/css'],
  'explore.css': ['site/explore.css', 'text/css'],
  'explore.js': ['dist/site/explore.js', 'text/javascript'],
  'editor.js': ['dist/site/editor.js', 'text/javascript'],
};

/** Most bytes of a form or an address: a query of 100,000 characters, as a browser writes it. */
export const MOST_BYTES = 1_000_000;

/** How a request is answered. */
interface Answering {
  /** What is said if there is no such thing. */
  readonly missing?: string;
  /** Whether the page takes long. */
  readonly isSlow?: boolean;
}

/** The pages of the server. Each request reads one snapshot from its begin to its end, and ends with its reader. */
export function appOf(
  follower: Follower,
  config: Config,
  folders: Folders,
  guarded: MiddlewareHandler,
  open: Endings,
): Hono {
  const app = new Hono();
  app.use(guarded);
  app.use(compress({ encoding: 'gzip' }));
  app.use((c, next) => {
    const { 'content-length': bytes } = c.req.header();
    if (c.req.method !== 'POST' || Number(bytes) <= MOST_BYTES) return next();
    throw new HTTPException(bytes === undefined ? 411 : 413, { message: 'a form is at most 1 MB' });
  });
  // DuckDB ends a statement at a NUL character, and no text that is asked for has one.
  app.use((c, next) => {
    if (c.req.url.includes('%00'))
      throw new LotlakeError('QUERY_FAILED', 'the address holds a NUL character');
    return next();
  });

  // A page is computed for who reads it.
  app.use((c, next) => {
    if (c.req.method !== 'HEAD') return next();
    c.header('allow', 'GET, POST');
    return Promise.resolve(c.body(null, 405));
  });

  /** Does something for a request that is answered at once. */
  const withShown = async (
    c: Context,
    work: (shown: Served) => Promise<Response> | Response,
  ): Promise<Response> => {
    const ending = open.begin(c);
    try {
      const { shown, release } = await follower.take(ending.signal);
      try {
        return await work(shown);
      } finally {
        release();
      }
    } catch (error) {
      throw reasonOf(error, ending);
    } finally {
      ending.end();
    }
  };
  /** Answers piece by piece. What fails before the first is told in place of the answer. */
  const stream = async (
    c: Context,
    make: (shown: Served, ending: Ending) => Promise<AsyncIterable<string | Uint8Array> | undefined>,
    { missing = '', isSlow = false }: Answering = {},
  ): Promise<Response> => {
    const ending = open.begin(c);
    let leave = ending.end;
    let isSending = false;
    try {
      const { shown, release } = await follower.take(ending.signal, isSlow);
      leave = () => {
        release();
        ending.end();
      };
      const pieces = await make(shown, ending);
      if (pieces === undefined) return notFound(c, missing, shown.id);
      isSending = true;
      return send(c, pieces, ending, leave);
    } catch (error) {
      throw reasonOf(error, ending);
    } finally {
      if (!isSending) leave();
    }
  };
  /** Answers with a page. What follows its head is computed while it is sent. */
  const page = (
    c: Context,
    make: (shown: Served) => Promise<Page | undefined> | Page,
    answering: Answering = {},
  ): Promise<Response> =>
    stream(
      c,
      async (shown, ending) => {
        const made = await make(shown);
        if (made === undefined) return undefined;
        c.header('content-type', 'text/html; charset=utf-8');
        return piecesOf(made, shown.id, (error) => reasonOf(error, ending));
      },
      answering,
    );
  /** Answers with the rows of a query as a file. */
  const download = (
    c: Context,
    format: 'csv' | 'parquet',
    sqlOf: (shown: Served) => string,
    name: string,
  ): Promise<Response> =>
    stream(c, async (shown) => {
      const pieces = await begun(shown.run({ kind: 'file', sql: sqlOf(shown), format }));
      c.header(
        'content-type',
        format === 'csv' ? 'text/csv; charset=utf-8' : 'application/vnd.apache.parquet',
      );
      c.header('content-disposition', `attachment; filename="${name}.${format}"`);
      return pieces;
    });

  /** Sources whose pictures the page may load. */
  const pictured = (c: Context): ReadonlySet<string> => {
    const allowed = allowedPictures(config);
    protect(c, { pictures: allowed.size > 0 });
    return allowed;
  };
  app.get('/', async (c): Promise<Response> => {
    // The list was here once, and searches are in bookmarks.
    if (Object.keys(c.req.query()).length > 0) return c.redirect(`/lots${new URL(c.req.url).search}`, 303);
    const pictures = pictured(c);
    return page(c, (shown) => homePage(shown, config, pictures));
  });
  app.get('/answers', (c) => page(c, answersPage));
  app.get('/lots', (c) => {
    const pictures = pictured(c);
    return page(c, (shown) =>
      lotsPage(shown, searchIn(c.req.query()), (c.req.query('q') ?? '').slice(0, 200), pictures),
    );
  });
  app.get('/find', async (c) => {
    const text = (c.req.query('q') ?? '').slice(0, 200);
    if (text.trim() === '') return c.redirect('/lots', 303);
    return withShown(c, async (shown) => {
      const place = await placeOf(shown, text);
      return 'to' in place ? c.redirect(place.to, 303) : c.html(textOf(place, shown.id));
    });
  });
  app.get('/car/:id{[0-9]{1,15}}', (c) => {
    const pictures = pictured(c);
    return page(c, (shown) => carPage(shown, config, Number(c.req.param('id')), pictures), {
      missing: 'The lake has no car of this id.',
      isSlow: true,
    });
  });
  app.get('/value', (c) => page(c, (shown) => valuePage(shown, c.req.query()), { isSlow: true }));
  app.get('/compare', (c) => {
    const { kind, car = '' } = c.req.query();
    const names = (c.req.queries('of') ?? []).map((name) => name.slice(0, 100));
    return page(c, (shown) => comparePage(shown, kind, names, car.slice(0, 100)), { isSlow: true });
  });
  app.get('/tables', (c) => page(c, (shown) => tablesPage(shown, (c.req.query('q') ?? '').slice(0, 100))));
  app.get('/:kind{tables|marts}/:file{[a-z0-9_]+\\.html}', (c) =>
    page(c, (shown) => tablePage(shown, c.req.param('file').replace('.html', ''), c.req.query()), {
      missing: 'The snapshot has no such table.',
    }),
  );
  const sql = (c: Context, text: string): Promise<Response> => {
    const nonce = randomBytes(16).toString('base64url');
    protect(c, { nonce });
    return page(c, (shown) => sqlPage(shown, config, text, folders.queries, nonce));
  };
  app.get('/sql', (c) => {
    const { q, name } = c.req.query();
    return sql(c, q ?? (name === undefined ? '' : (savedQuery(folders.queries, name) ?? '')));
  });
  app.post('/sql', async (c) => sql(c, (await fields(c)).q ?? ''));
  app.get('/catalog.json', (c) =>
    withShown(c, async ({ catalog }) =>
      c.json(
        Object.fromEntries(catalog.map(({ name, columns }) => [name, columns.map((column) => column.name)])),
      ),
    ),
  );
  app.get('/runs', (c) => page(c, (shown) => runsPage(shown, config, c.req.query('run'))));
  app.get('/searches', (c) =>
    page(
      c,
      (shown) =>
        searchesPage(shown, config, folders, { search: searchIn(c.req.query()), pictures: pictured(c) }),
      { isSlow: true },
    ),
  );
  for (const format of ['csv', 'parquet'] as const) {
    app.get(`/lots.${format}`, (c) =>
      download(c, format, ({ names }) => listOf(asMeant(searchIn(c.req.query()), names)), 'lots'),
    );
    app.get(`/query.${format}`, (c) => download(c, format, () => c.req.query('q') ?? '', 'query'));
  }
  app.get('/report', (c) =>
    withShown(c, async (shown) => {
      const figures = await shown.figures();
      const report = reportOf(figures, layoutOf(config.output), await readFollowed(config));
      // The report names what it may load itself.
      c.header('content-security-policy', "frame-ancestors 'none'; base-uri 'none'");
      return c.html(report.replace('<body>\n<header>', `<body>\n<header>${menuLine()}`));
    }),
  );
  app.get('/assets/:name', (c) => {
    const [file, type] = byName(ASSETS)[c.req.param('name')] ?? [];
    if (file === undefined) return notFound(c, 'There is no such file.', '');
    c.header('cache-control', 'private, max-age=60');
    return c.body(packageFile(file), 200, { 'content-type': `${type}; charset=utf-8` });
  });

  app.post('/searches', async (c) => {
    const { name: given = '', search, sql = '' } = await fields(c);
    const name = slugOf(given);
    const folder = needed(folders.models);
    return withShown(c, async (shown) => {
      const saving = { config, folder, name };
      if (search === undefined) await watchQuery(shown, saving, sql);
      else await saveSearch(shown, saving, searchIn(Object.fromEntries(new URLSearchParams(search))));
      return c.redirect('/searches', 303);
    });
  });
  app.post('/searches/:name', async (c) => {
    const { to = '', remove } = await fields(c);
    changeSearch(
      { folder: needed(folders.models), examples: config.examples },
      c.req.param('name'),
      remove === undefined ? slugOf(to) : undefined,
    );
    return c.redirect('/searches', 303);
  });
  app.post('/car/:id{[0-9]{1,15}}/follow', async (c) => {
    const { stop } = await fields(c);
    const id = Number(c.req.param('id'));
    return withShown(c, async (shown) =>
      (await followCar(shown, config, id, stop === undefined))
        ? c.redirect(`/car/${id}`, 303)
        : notFound(c, 'The lake has no car of this id.', shown.id),
    );
  });
  app.post('/pictures', async (c) => {
    const { show, hide, back = '/' } = await fields(c);
    const name = show ?? hide;
    return withShown(c, async ({ names }) => {
      // Of any other source no page has a picture.
      if (name !== undefined && names.choices.source.includes(name))
        allowPictures(config, name, show !== undefined);
      // A path of this server alone; browsers read \ as /.
      return c.redirect(/^\/(?![/\\])[!-~]*$/.test(back) ? back : '/', 303);
    });
  });
  app.post('/queries', async (c) => {
    const { name: given = '', sql = '' } = await fields(c);
    const name = slugOf(given);
    const folder = needed(folders.queries);
    return withShown(c, async ({ run }) => {
      await textsOf(run({ kind: 'columns', sql }));
      saveQuery(folder, name, sql);
      return c.redirect(`/sql?name=${name}`, 303);
    });
  });

  app.notFound((c) => notFound(c, 'There is no such page.', ''));
  app.onError((error, c) => {
    if (error instanceof HTTPException) return sendProblem(c, error, error.status);
    if (!(error instanceof LotlakeError)) return sendProblem(c, error, 500);
    return sendProblem(c, error, error.code.startsWith('EXPLORE_') ? 503 : 400);
  });
  return app;
}

/** Pieces whose first one is there: what fails at once is told in place of a file. */
async function begun<T>(pieces: AsyncGenerator<T>): Promise<AsyncGenerator<T>> {
  const first = await pieces.next();
  return (async function* () {
    try {
      if (first.done === true) return;
      yield first.value;
      yield* pieces;
    } finally {
      await pieces.return(undefined);
    }
  })();
}

/** Why an answer failed: what ended it says more than the statement that was interrupted. */
const reasonOf = (error: unknown, { signal }: Ending): unknown => (signal.aborted ? signal.reason : error);

/** The fields of a form, as texts. */
async function fields(c: Context): Promise<Readonly<Record<string, string>>> {
  const given = await c.req.parseBody();
  return Object.fromEntries(
    Object.entries(given).map(([name, value]) => [name, typeof value === 'string' ? value : '']),
  );
}

/** A folder of the reader. Throws QUERY_PLACE without a configuration. */
function needed(folder: string | undefined): string {
  if (folder !== undefined) return folder;
  throw new LotlakeError('QUERY_PLACE', 'there is no lotlake.config.json to save beside', {
    outcome: 'usage',
    hint: 'lotlake init writes that file; then start lotlake explore again',
  });
}

/** Saves a query as a new file. Throws QUERY_PLACE for a name that cannot be one or is taken. */
function saveQuery(folder: string, name: string, sql: string): void {
  const path = join(folder, `${name}.sql`);
  if (!NAME.test(name) || existsSync(path))
    throw new LotlakeError(
      'QUERY_PLACE',
      NAME.test(name) ? `${path} exists` : `${name} cannot be the name of a query`,
      {
        outcome: 'usage',
        hint: 'give another name, of the letters a to z, digits and _',
      },
    );
  makeFolder(ownNamed(folder));
  writeNew(ownNamed(path), `${sql.trim()}\n`);
}

const notFound = (c: Context, words: string, snapshot: string): Response =>
  htmlOf(
    c,
    textOf(
      { title: 'Not found', place: '', first: html`<h1>Not found</h1><p class="words">${words}</p>` },
      snapshot,
    ),
    404,
  );

function sendProblem(c: Context, error: unknown, status: HTTPException['status']): Response {
  const page = { title: 'Not done', place: '', first: html`<h1>Not done</h1>${problem(error)}` };
  return htmlOf(c, textOf(page, ''), status);
}

const htmlOf = (c: Context, text: string, status: HTTPException['status']): Response => {
  c.header('content-type', 'text/html; charset=utf-8');
  return c.body(text, status);
};
