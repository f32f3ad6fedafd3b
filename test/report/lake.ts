import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseHTML } from 'linkedom';
import { nightly } from '../../pipelines/nightly.js';
import type { PipelineOptions } from '../../pipelines/options.js';
import { writeReport } from '../../src/ask/report/write-report.js';
import type { ConfigInput } from '../../src/base/config/config.js';
import { type SandboxOptions, startSandbox } from '../../src/sandbox/index.js';
import { configFor, lastPage, serve, silentReporter, WITHOUT_CATALOG } from '../pipelines/support.js';

/** One night of a world of the sandbox into an output folder. */
export async function night(
  output: string,
  world: SandboxOptions & { readonly clock: Date },
  settings: ConfigInput = {},
): Promise<void> {
  const sandbox = await startSandbox({ ...world, faults: WITHOUT_CATALOG });
  try {
    await nightly({
      config: configFor(sandbox.url, output, { apiKey: sandbox.apiKey, ...settings }),
      reporter: silentReporter(),
      now: () => world.clock,
    });
  } finally {
    await sandbox.close();
  }
}

/** One night of a service that has only these vehicles. */
export async function nightOf(
  output: string,
  records: readonly unknown[],
  now: Date,
  more: Partial<PipelineOptions> = {},
  settings: Partial<PipelineOptions['config']> = {},
): Promise<void> {
  const service = await serve((url) =>
    url.pathname === '/api/cars'
      ? { body: lastPage(url.searchParams.get('page') === '2' ? [] : records) }
      : { status: 404, body: { message: 'no such endpoint' } },
  );
  try {
    await nightly({
      config: configFor(service.url, output, settings),
      reporter: silentReporter(),
      now: () => now,
      ...more,
    });
  } finally {
    await service.close();
  }
}

/** Writes the report of an output folder. Returns its path, its text and its parsed document. */
export async function reportOf(output: string): Promise<{ path: string; html: string; document: Document }> {
  const path = await writeReport(configFor('http://127.0.0.1:9/api', output), join(output, 'report.html'));
  const html = readFileSync(path, 'utf8');
  return { path, html, document: parseHTML(html).document };
}

/** The members of a document's parts that the tests use. This project does not have the types of the DOM. */
export interface Element {
  readonly textContent: string;
  querySelectorAll(selector: string): Iterable<Element>;
  querySelector(selector: string): Element | null;
  getAttribute(name: string): string | null;
}

/** See {@link Element}. */
export type Document = Element;

/** Figures at the top by their name: value and change. */
export function tilesOf(document: Document): Map<string, { value: string; change: string }> {
  return new Map(
    [...document.querySelectorAll('.figures > div')].map((tile) => [
      textOf(tile, 'dt'),
      { value: textOf(tile, '.value'), change: textOf(tile, '.change') },
    ]),
  );
}

/** Rows of the table in the figure with a title, cell by cell; empty if the figure has no table. */
export function tableOf(document: Document, title: string): string[][] {
  const figure = figureOf(document, title);
  return [...figure.querySelectorAll('tbody tr')].map((row) =>
    [...row.querySelectorAll('th, td')].map((cell) => cell.textContent),
  );
}

/** The figure with a title. Throws if there is none. */
export function figureOf(document: Document, title: string): Element {
  const found = [...document.querySelectorAll('figure')].find((figure) => textOf(figure, 'h3') === title);
  if (found === undefined) throw new TypeError(`no figure ${title}`);
  return found;
}

const textOf = (element: Element, selector: string): string =>
  element.querySelector(selector)?.textContent ?? '';
