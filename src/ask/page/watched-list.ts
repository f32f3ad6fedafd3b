import { counted, printable } from '../../base/config/printable.js';
import type { Row } from '../../base/duck/session.js';
import { matchText, type Watched, watchedText } from '../query/watched.js';
import { type Html, html } from './html.js';
import { type CardOptions, lotCards } from './lot-card.js';

/** What is new in a watched search and what left it. */
export function watchedList(watched: Watched, cards?: CardOptions): Html {
  const { reason, entered_rows, left_rows, entered, left } = watched;
  if (reason !== null) return html`<p class="words">${watchedText(watched)}.</p>`;
  if (entered === 0 && left === 0) return html`<p class="note">Nothing new, and nothing left.</p>`;
  const part = (title: string, found: readonly Row[]): Html | false =>
    found.length > 0 && html`<h3>${title}</h3>${matchList(found, cards)}`;
  return html`${part(`${counted(entered, 'match', 'matches')} that are new`, entered_rows)}${part(`${counted(left, 'match', 'matches')} that left`, left_rows)}`;
}

/** Rows of lots as a list of lots; rows of other models as lines. */
export function matchList(found: readonly Row[], cards: CardOptions | undefined): Html {
  const isLots =
    'lot' in (found[0] ?? {}) && 'low_80' in (found[0] ?? {}) && 'stands_out' in (found[0] ?? {});
  if (!isLots) return html`<ul>${found.map((row) => html`<li>${printable(matchText(row))}</li>`)}</ul>`;
  return lotCards(found, cards);
}
