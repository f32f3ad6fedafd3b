import type { Config } from '../../base/config/config.js';
import type { Row } from '../../base/duck/session.js';
import { source } from '../page/format.js';
import { type Html, html } from '../page/html.js';
import { keep, readKept } from './kept.js';

/** Names of the sources whose pictures the reader allowed. */
export const allowedPictures = (config: Config): ReadonlySet<string> => new Set(readKept(config).pictures);

/** Allows the pictures of a source from now on, or no longer. */
export function allowPictures(config: Config, name: string, isAllowed: boolean): void {
  const { pictures } = readKept(config);
  const others = pictures.filter((each) => each !== name);
  keep(config, { pictures: isAllowed ? [...others, name] : others });
}

/**
 * Buttons that allow the pictures of the sources of some lots, or no longer. Pictures lie at the sources, which see who loads them.
 * @param back address of the page
 */
export function picturesForm(lots: readonly Row[], allowed: ReadonlySet<string>, back: string): Html | false {
  const sources = [...new Set(lots.filter(({ picture }) => picture).map((row) => String(row.domain_name)))];
  if (sources.length === 0) return false;
  const button = (name: string): Html =>
    html`<button name="${allowed.has(name) ? 'hide' : 'show'}" value="${name}">${allowed.has(name) ? 'Hide' : 'Show'} pictures of ${source(name)}</button>`;
  return html`<form method="post" action="/pictures" class="tools"><input type="hidden" name="back" value="${back}">${sources.map(button)} <span class="note">Pictures lie at the sources, which will see your address.</span></form>`;
}
