import { type Html, html, raw } from '../docs/html.js';

/**
 * A table that scrolls. A `>` before a head marks a column of numbers; the first cell of a row is its head. Columns without
 * any text are left out.
 */
export function grid(
  heads: readonly string[],
  lines: readonly (readonly (Html | string)[])[],
  kind = '',
): Html {
  const isUsed = heads.map(
    (_, i) => lines.length === 0 || lines.some((line) => String(line[i] ?? '') !== ''),
  );
  const used = <T>(cells: readonly T[]): T[] => cells.filter((_, i) => isUsed[i]);
  const classOf = (head: string): Html | '' => (head.startsWith('>') ? raw(' class="number"') : '');
  const kept = used(heads);
  const cell = (value: Html | string, i: number): Html =>
    i === 0
      ? html`<th scope="row"${classOf(kept[0] ?? '')}>${value}</th>`
      : html`<td${classOf(kept[i] ?? '')}>${value}</td>`;
  return html`<div class="scroll ${kind}" tabindex="0"><table><thead><tr>${kept.map(
    (head) => html`<th scope="col"${classOf(head)}>${head.replace(/^>/, '')}</th>`,
  )}</tr></thead><tbody>${lines.map((line) => html`<tr>${used(line).map(cell)}</tr>`)}</tbody></table></div>`;
}
