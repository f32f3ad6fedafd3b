import { StandardSQL, type schemaCompletionSource, sql } from '@codemirror/lang-sql';
import { HighlightStyle, syntaxHighlighting, syntaxTree } from '@codemirror/language';
import { Prec } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { basicSetup } from 'codemirror';

const form = document.querySelector<HTMLFormElement>('#query');
const field = document.querySelector<HTMLTextAreaElement>('#sql');
const cancel = document.querySelector<HTMLButtonElement>('#cancel');
const nonce = document.querySelector<HTMLMetaElement>('meta[name=nonce]')?.content ?? '';

/** The colours of the page, light or dark. */
const COLOURS = EditorView.theme({
  '&': { backgroundColor: 'var(--paper)', color: 'var(--ink)' },
  '.cm-content': { caretColor: 'var(--ink)' },
  '.cm-cursor': { borderLeftColor: 'var(--ink)' },
  '.cm-gutters': { backgroundColor: 'var(--tint)', color: 'var(--muted)', border: 'none' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground, .cm-activeLine, .cm-activeLineGutter': {
    backgroundColor: 'var(--tint) !important',
  },
  '.cm-tooltip': { backgroundColor: 'var(--paper)', color: 'var(--ink)', border: '1px solid var(--line)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--link)', color: 'var(--paper)' },
});
const STYLE = HighlightStyle.define([
  { tag: [tags.keyword, tags.operatorKeyword], color: 'var(--link)' },
  { tag: [tags.string, tags.number, tags.bool, tags.null], color: 'var(--fine)' },
  { tag: tags.comment, color: 'var(--muted)' },
]);

/** Letters of a query that stand in the address of its result. */
const IN_ADDRESS = 4000;

type Schema = Readonly<Record<string, readonly string[]>>;

/** Completes the columns of the tables that the query names, or of all. Behind a table and a dot, the language does that. */
const columnsOf =
  (schema: Schema): ReturnType<typeof schemaCompletionSource> =>
  (context) => {
    const word = context.matchBefore(/(?<![\w.])\w+/);
    if (word === null || /String|Comment/.test(syntaxTree(context.state).resolveInner(context.pos, -1).name))
      return null;
    const words = new Set(context.state.doc.toString().match(/\w+/g));
    const named = Object.keys(schema).filter((name) => words.has(name));
    const tables = named.length === 0 ? Object.keys(schema) : named;
    const columns = new Set(tables.flatMap((name) => schema[name] ?? []));
    return {
      from: word.from,
      validFor: /^\w*$/,
      options: [...columns].map((label) => ({ label, type: 'property', boost: 1 })),
    };
  };

/** The query under way. */
let running: AbortController | undefined;

/** Runs the query and puts its result, a part of the page, in place of the last. The server ends a query whose reader is gone. */
async function run(text: string): Promise<void> {
  running?.abort();
  const mine = new AbortController();
  running = mine;
  cancel?.removeAttribute('hidden');
  const show = (nodes: readonly (Node | string)[]): void =>
    document.querySelector('#result')?.replaceChildren(...nodes);
  show(['Running …']);
  try {
    const body = new URLSearchParams({ q: text });
    const answer = await fetch('/sql', { method: 'POST', body, signal: mine.signal });
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    history.replaceState(null, '', text.length > IN_ADDRESS ? '/sql' : `/sql?${body}`);
    const last = page.querySelector('#last ul');
    if (last !== null) document.querySelector('#last ul')?.replaceWith(last);
    show([...(page.querySelector('#result')?.childNodes ?? ['The server gave no result.'])]);
  } catch (error) {
    show([mine.signal.aborted ? 'Cancelled.' : `The server does not answer: ${String(error)}`]);
  } finally {
    if (running === mine) cancel?.setAttribute('hidden', '');
  }
}

async function edit(): Promise<void> {
  if (form === null || field === null) return;
  const answer = await fetch('/catalog.json');
  const schema: Schema = answer.ok ? await answer.json() : {};
  const submit = (): boolean => {
    form.requestSubmit();
    return true;
  };
  const view = new EditorView({
    doc: field.value,
    extensions: [
      EditorView.cspNonce.of(nonce),
      // Before the keys of the editor, for which Ctrl-Enter is a blank line. Tab leaves the editor, as in any field.
      Prec.highest(keymap.of([{ key: 'Mod-Enter', run: submit }])),
      basicSetup,
      COLOURS,
      syntaxHighlighting(STYLE),
      sql({ schema }),
      StandardSQL.language.data.of({ autocomplete: columnsOf(schema) }),
      EditorView.lineWrapping,
      EditorView.contentAttributes.of({ 'aria-label': 'Query' }),
    ],
  });
  field.hidden = true;
  field.after(view.dom);
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    field.value = view.state.doc.toString();
    void run(field.value);
  });
  cancel?.addEventListener('click', () => running?.abort());
  document.querySelector<HTMLFormElement>('#save')?.addEventListener('formdata', ({ formData }) => {
    formData.set('sql', view.state.doc.toString());
  });
}

void edit();
