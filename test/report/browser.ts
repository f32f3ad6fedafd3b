import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as drivers from 'playwright-core';

/** Whether LOTLAKE_BROWSER chooses Firefox, in which the color scheme and the medium of a page cannot be chosen. */
export const isFirefox = process.env.LOTLAKE_BROWSER === 'firefox';

const NAMES = isFirefox
  ? ['firefox', 'firefox-esr']
  : ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable'];

const program: string | undefined = (process.env.PATH ?? '')
  .split(delimiter)
  .flatMap((folder) => NAMES.map((name) => join(folder, name)))
  .find((path) => existsSync(path));

/** Whether this machine has the browser; tests of pages are skipped without it. */
export const hasBrowser = program !== undefined;

/** Added to the title of tests that need a browser, so that a skipped one says why. */
export const inBrowser: string = hasBrowser
  ? `in ${isFirefox ? 'Firefox' : 'Chromium'}`
  : `in a browser (skipped: no ${NAMES.join(' or ')} in PATH)`;

/** Starts the browser of this machine. Throws if there is none. */
export async function launchDriver(): Promise<drivers.Browser> {
  if (program === undefined) throw new TypeError(`there is no ${NAMES.join(' or ')} in PATH`);
  return isFirefox
    ? await drivers.firefox.launch({ channel: 'moz-firefox', executablePath: program })
    : await drivers.chromium.launch({ executablePath: program, args: ['--disable-gpu'] });
}

/** The window in which a page is opened. */
interface View {
  /** Width and height of the window in CSS pixels; 1200 × 900 by default. */
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: 'light' | 'dark';
  readonly media?: 'screen' | 'print';
}

/** A file that is open in the browser, and what it has done so far. */
interface OpenPage {
  readonly page: drivers.Page;
  /** URLs of all requests, the page's own first. */
  readonly requests: readonly string[];
  /** Errors of the console, uncaught exceptions and requests that failed. */
  readonly errors: readonly string[];
  close(): Promise<void>;
}

/** A browser without a network. */
export interface Browser {
  /** Opens a file and waits until it is loaded. The path may end with `#…`, a place in the file. */
  open(path: string, view?: View): Promise<OpenPage>;
  close(): Promise<void>;
}

/** Starts the browser of this machine for files. Throws if there is none. */
export async function launchBrowser(): Promise<Browser> {
  const browser = await launchDriver();
  return {
    open: async (path, { width = 1200, height = 900, scheme = 'light', media = 'screen' } = {}) => {
      const context = await browser.newContext({
        viewport: { width, height },
        colorScheme: scheme,
        offline: true,
      });
      const page = await context.newPage();
      await page.emulateMedia({ media, colorScheme: scheme });
      const requests: string[] = [];
      const errors: string[] = [];
      page.on('request', (request) => requests.push(request.url()));
      page.on('requestfailed', (request) => errors.push(`${request.url()}: ${request.failure()?.errorText}`));
      page.on('console', (message) => {
        if (message.type() === 'error') errors.push(message.text());
      });
      page.on('pageerror', (error) => errors.push(error.message));
      await page.goto(urlOf(path), { waitUntil: 'load' });
      return { page, requests, errors, close: () => context.close() };
    },
    close: () => browser.close(),
  };
}

function urlOf(path: string): string {
  const [file = '', place] = path.split('#');
  return `${pathToFileURL(file).href}${place === undefined ? '' : `#${place}`}`;
}
