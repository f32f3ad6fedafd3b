import { sql } from '@codemirror/lang-sql';
import { Prec } from '@codemirror/state';
import { EditorView, keymap } from '@codemirror/view';
import { basicSetup } from 'codemirror';

const form = document.querySelector<HTMLFormElement>('#query');
const field = document.querySelector<HTMLTextAreaElement>('#sql');
const cancel = document.querySelector<HTMLButtonElement>('#cancel');
const nonce = document.querySelector<HTMLMetaElement>('meta[name=nonce]')?.content ?? '';

/** The query under way. */
let running: AbortController | undefined;

/** Runs the query and puts its result, a part of the page, in place of the last. The server ends a query whose reader is gone. */
async function run(text: string): Promise<void> {
  running?.abort();
  const mine = new AbortController();
  running = mine;
  cancel?.removeAttribute('hidden');
  const address = `/sql?${new URLSearchParams({ q: text })}`;
  const show = (nodes: readonly (Node | string)[]): void =>
    document.querySelector('#result')?.replaceChildren(...nodes);
  show(['Running …']);
  try {
    const answer = await fetch(address, { signal: mine.signal });
    const page = new DOMParser().parseFromString(await answer.text(), 'text/html');
    history.replaceState(null, '', address);
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
  const schema: Record<string, string[]> = answer.ok ? await answer.json() : {};
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
      sql({ schema }),
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
