import fillers from './fillers.json' with { type: 'json' };
import { damages, titles } from './market.js';
import { states } from './places.js';

/** A row of a reference list. */
interface ReferenceRow {
  readonly id: number;
  readonly name: string;
  readonly code?: string | null;
}

const DAMAGES = 2_300;
/** From about here on the service lists codes instead of names (field-notes.md). */
const FIRST_JUNK = 100;

const planted = new Map(damages.map((damage) => [damage.id, damage.name]));
const { parts, kinds, documents } = fillers;
const letters = 'abcdefghijklmnopqrstuvwxyz';

const partNamed = (id: number): string => `${parts[id % parts.length]} ${kinds[id % kinds.length]}`;

const pair = (value: number): string => {
  const text = `${letters[Math.floor(value / 26) % 26]}${letters[value % 26]}`;
  return text[0]?.toUpperCase() + text.slice(1);
};

const junk = (id: number): string =>
  id < FIRST_JUNK + 676 ? pair(id * 7) : `${pair(id * 11)}${id % 3 === 0 ? '|' : '/'}${pair(id * 5)}`;

/** Rows of `/usa/damages`: those that lots have, other names, and codes that mean nothing. */
export const damageRows: readonly ReferenceRow[] = Array.from({ length: DAMAGES }, (_, place) => {
  const id = place + 1;
  return { id, name: planted.get(id) ?? (id < FIRST_JUNK ? partNamed(id) : junk(id)) };
});

const ofStates: readonly ReferenceRow[] = states.us.flatMap((state, row) =>
  documents.map((document, column) => ({
    id: 2000 + row * documents.length + column,
    code: column === 2 ? null : state.code,
    name: `${state.code.toUpperCase()} - ${document}`,
  })),
);

/** Rows of `/usa/titles`: titles and detailed titles of lots, and documents of every state. */
export const titleRows: readonly ReferenceRow[] = [
  ...titles.map(({ id, code, name }) => ({ id, code, name })),
  ...titles.map(({ detailed }) => detailed),
  ...ofStates,
].sort((a, b) => a.id - b.id);
