const MOST = 40;
const root = document.body.dataset.root;
const input = document.getElementById('search');
const results = document.getElementById('results');
const entries = globalThis.searchIndex.map(([name, table, kind, description, path]) => {
  return { name, table, kind, description, path, text: `${table} ${name} ${description}`.toLowerCase() };
});
let selected = -1;

/** Less is better: the whole name, its beginning, a part of it, the table's name, the description. */
function rank(entry, words) {
  const tier = (word) => {
    if (entry.name === word) return 0;
    if (entry.name.startsWith(word)) return 1;
    if (entry.name.includes(word)) return 2;
    return entry.table.includes(word) ? 3 : 4;
  };
  return words.reduce((sum, word) => sum + tier(word), entry.kind === 'column' ? 0.5 : 0);
}

function find(query) {
  const words = query
    .toLowerCase()
    .split(/[\s.]+/)
    .filter((word) => word !== '');
  if (words.length === 0) return [];
  return entries
    .filter((entry) => words.every((word) => entry.text.includes(word)))
    .map((entry) => ({ entry, rank: rank(entry, words) }))
    .sort((a, b) => a.rank - b.rank || a.entry.name.length - b.entry.name.length)
    .slice(0, MOST)
    .map(({ entry }) => entry);
}

function option(entry, place) {
  const item = document.createElement('li');
  item.id = `result-${place}`;
  item.setAttribute('role', 'option');
  const name = document.createElement('code');
  name.textContent = entry.table === '' ? entry.name : `${entry.table}.${entry.name}`;
  const description = document.createElement('span');
  description.textContent = `${entry.kind}: ${entry.description}`;
  item.append(name, description);
  item.dataset.path = root + entry.path;
  return item;
}

function nothing() {
  const item = document.createElement('li');
  item.setAttribute('role', 'option');
  item.setAttribute('aria-disabled', 'true');
  item.textContent = 'Nothing has these words.';
  return item;
}

function show() {
  const found = find(input.value).map(option);
  const isOpen = input.value.trim() !== '';
  results.replaceChildren(...(found.length > 0 ? found : [nothing()]));
  results.hidden = !isOpen;
  input.setAttribute('aria-expanded', String(isOpen));
  select(found.length > 0 ? 0 : -1);
}

function select(place) {
  selected = place;
  [...results.children].forEach((item, i) => {
    item.setAttribute('aria-selected', String(i === place));
    if (i === place) item.scrollIntoView({ block: 'nearest' });
  });
  if (place < 0) input.removeAttribute('aria-activedescendant');
  else input.setAttribute('aria-activedescendant', `result-${place}`);
}

function close() {
  results.hidden = true;
  input.setAttribute('aria-expanded', 'false');
}

function open(item) {
  if (item?.dataset.path === undefined) return;
  close();
  input.blur();
  location.href = item.dataset.path;
}

function move(step) {
  if (results.hidden || selected < 0) return;
  select((selected + step + results.children.length) % results.children.length);
}

const keys = {
  ArrowDown: () => move(1),
  ArrowUp: () => move(-1),
  Enter: () => open(results.hidden ? undefined : results.children[selected]),
  Escape: () => (results.hidden ? input.blur() : close()),
};

input.addEventListener('input', show);
input.addEventListener('focus', () => input.value !== '' && show());
input.addEventListener('blur', close);
input.addEventListener('keydown', (event) => {
  const act = keys[event.key];
  if (act === undefined || event.isComposing) return;
  event.preventDefault();
  act();
});
// Before the input loses its focus, which closes the list.
results.addEventListener('mousedown', (event) => {
  event.preventDefault();
  open(event.target.closest('li'));
});
document.addEventListener('keydown', (event) => {
  if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || event.target === input) return;
  event.preventDefault();
  input.focus();
});
input.closest('.search').hidden = false;

/** Lets everything step back that a node of a lineage is not connected with. */
function point(picture, id) {
  const edges = [...picture.querySelectorAll('.edges path')];
  const reached = new Set([id]);
  for (const [here, there] of [
    ['from', 'to'],
    ['to', 'from'],
  ]) {
    const queue = [id];
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      for (const edge of edges.filter(({ dataset }) => dataset[here] === next)) {
        edge.classList.add('on');
        reached.add(edge.dataset[there]);
        queue.push(edge.dataset[there]);
      }
    }
  }
  for (const node of picture.querySelectorAll('.node'))
    node.classList.toggle('on', reached.has(node.dataset.id));
  picture.classList.add('pointed');
}

function unpoint(picture) {
  picture.classList.remove('pointed');
  for (const item of picture.querySelectorAll('.on')) item.classList.remove('on');
}

for (const picture of document.querySelectorAll('.lineage')) {
  for (const node of picture.querySelectorAll('.node')) {
    for (const event of ['pointerenter', 'focus'])
      node.addEventListener(event, () => point(picture, node.dataset.id));
    for (const event of ['pointerleave', 'blur']) node.addEventListener(event, () => unpoint(picture));
  }
}
