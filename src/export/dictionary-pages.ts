import { columnCells } from '../docs/dictionary.js';
import { csvLine } from '../query/csv.js';
import { printable } from '../query/printable.js';
import type { TablePlan } from './plan.js';

const HEAD = ['table', 'column', 'type', 'unit', 'description', 'source'];

/** The dictionary of an export as CSV: a line a column. */
export function dictionaryCsv(plans: readonly TablePlan[], bom: boolean): string {
  const lines = plans.flatMap((plan) => plan.columns.map((column) => [plan.name, ...columnCells(column)]));
  const texts = HEAD.map((name) => ({ name, type: 'VARCHAR' }));
  const written = [HEAD, ...lines].map((line) =>
    csvLine(
      line.map((cell) => (cell === '' ? null : cell)),
      texts,
    ),
  );
  return `${bom ? '\uFEFF' : ''}${written.join('')}`;
}

/** The same as a page, a section a table. */
export function dictionaryPage(plans: readonly TablePlan[]): string {
  return ['# Dictionary', ...plans.map(section), ''].join('\n\n').trimEnd().concat('\n');
}

function section(plan: TablePlan): string {
  const key = plan.key.length === 0 ? 'not exported' : plan.key.join(', ');
  const lines = plan.columns.map((column) => {
    const [name, ...rest] = columnCells(column);
    return `| \`${name}\` | ${rest.map(markdown).join(' | ')} |`;
  });
  return [
    `## ${plan.name}`,
    `${markdown(plan.description)} Grain: ${markdown(plan.grain)}. Key: ${key}.`,
    [`| ${HEAD.slice(1).join(' | ')} |`, '| --- | --- | --- | --- | --- |', ...lines].join('\n'),
  ].join('\n\n');
}

/** A text that stays text in a table of Markdown. */
function markdown(text: string): string {
  return printable(text).replaceAll(/[\\|<>*_`[\]]/g, (sign) => `\\${sign}`);
}
