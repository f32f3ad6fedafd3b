/** What a cell tells: its figure or time where it has one, otherwise its text, nothing where that is a dash. */
const toldBy = (cell) => cell.dataset.value ?? (cell.textContent === '–' ? '' : cell.textContent);

const isNumber = (text) => text !== '' && Number.isFinite(Number(text));

/** Figures by size, texts by the alphabet; what is not known comes last in either direction. */
function compare(a, b, direction) {
  const [x, y] = [a, b].map(toldBy);
  if (isNumber(x) && isNumber(y)) return direction * (x - y);
  if (isNumber(x) !== isNumber(y) && (a.matches('.number') || b.matches('.number')))
    return isNumber(x) ? -1 : 1;
  if ((x === '') !== (y === '')) return x === '' ? 1 : -1;
  return direction * x.localeCompare(y, 'en', { numeric: true });
}

function sort(head, direction) {
  const body = head.closest('table').tBodies[0];
  const rows = [...body.rows].sort((a, b) =>
    compare(a.cells[head.cellIndex], b.cells[head.cellIndex], direction),
  );
  for (const other of head.parentElement.cells) other.removeAttribute('aria-sort');
  head.setAttribute('aria-sort', direction > 0 ? 'ascending' : 'descending');
  body.append(...rows);
}

/** Shows the rows that have all words; says how many there are. */
function filter(table, text, status) {
  const words = text.toLowerCase().split(/\s+/);
  const rows = [...table.tBodies[0].rows];
  for (const row of rows) {
    const content = [...row.cells].map((cell) => cell.textContent.toLowerCase()).join('\n');
    row.hidden = !words.every((word) => content.includes(word));
  }
  const shown = rows.filter((row) => !row.hidden).length;
  status.textContent = shown === rows.length ? '' : `${shown} of ${rows.length} rows`;
}

const FORMULA =
  /^'*(?:[\t\r]|[\s\u0000-\u001f\u00ad\u180e\u200b-\u200f\u2060-\u2064\ufeff]*[=+\-@\uff1d\uff0b\uff0d\uff20\ufe62\ufe63\ufe66\ufe6b\u2212])/;

/** As src/ask/query/csv.ts writes a text: a formula gets an apostrophe, a plain number does not. */
function field(text) {
  const isFormula = FORMULA.test(text) && !/^-?\d+(\.\d+)?$/.test(text);
  const safe = isFormula ? `'${text}` : text;
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** The rows that are shown, in their order. */
const csvOf = (table) =>
  [...table.rows]
    .filter((row) => !row.hidden)
    .map((row) => `${[...row.cells].map((cell) => field(toldBy(cell))).join(',')}\r\n`)
    .join('');

function save(table, name) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(new Blob(['\ufeff', csvOf(table)], { type: 'text/csv' }));
  link.download = `${name}.csv`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

const button = (text, onclick) => element('button', { type: 'button', onclick }, text);

for (const table of document.querySelectorAll('figure table')) {
  for (const head of table.tHead.rows[0].cells) {
    const turn = () => sort(head, head.getAttribute('aria-sort') === 'ascending' ? -1 : 1);
    head.replaceChildren(button(head.textContent, turn));
  }
  const figure = table.closest('figure');
  const title = [figure.closest('.each')?.firstChild, figure.querySelector('h3')]
    .flatMap((part) => part?.textContent ?? [])
    .join(', ');
  const status = element('output', {});
  const input = element('input', { type: 'search', oninput: () => filter(table, input.value, status) });
  const label = element('label', {}, 'Filter ', input);
  table.parentElement.before(
    element(
      'p',
      { className: 'tools' },
      label,
      button('Save as CSV', () => save(table, title)),
      status,
    ),
  );
}

// The contents above the page fold away again once a reader has chosen.
const contents = document.querySelector('nav details');
contents.addEventListener('click', ({ target }) => {
  if (target.closest('a') !== null) contents.open = false;
});
