import { type Html, html, raw } from './html.js';

/** A cell: what it shows, and more attributes of its element. */
export interface GridCell {
  readonly shown: Html | string;
  readonly attributes?: Html;
}

/**
 * A table that scrolls. A `>` before a head marks a column of numbers; the first cell of a row is its head.
 * @param kind class of a table that looks otherwise
 */
export function gridOfCells(
  heads: readonly string[],
  lines: readonly (readonly GridCell[])[],
  kind = '',
): Html {
  const classes = heads.map((head) => (head.startsWith('>') ? raw(' class="number"') : ''));
  const cell = ({ shown, attributes }: GridCell, i: number): Html =>
    i === 0
      ? html`<th scope="row"${classes[i]}${attributes}>${shown}</th>`
      : html`<td${classes[i]}${attributes}>${shown}</td>`;
  return html`<div class="scroll${kind === '' ? '' : ` ${kind}`}" tabindex="0"><table><thead><tr>${heads.map(
    (head, i) => html`<th scope="col"${classes[i]}>${head.replace(/^>/, '')}</th>`,
  )}</tr></thead><tbody>${lines.map((line) => html`<tr>${line.map(cell)}</tr>`)}</tbody></table></div>`;
}

/** Texts and pieces of a page as such a table. Columns without any text are left out. */
export function grid(
  heads: readonly string[],
  lines: readonly (readonly (Html | string)[])[],
  kind = '',
): Html {
  const isUsed = heads.map(
    (_, i) => lines.length === 0 || lines.some((line) => String(line[i] ?? '') !== ''),
  );
  const used = <T>(cells: readonly T[]): T[] => cells.filter((_, i) => isUsed[i]);
  return gridOfCells(
    used(heads),
    lines.map((line) => used(line).map((shown) => ({ shown }))),
    kind,
  );
}
