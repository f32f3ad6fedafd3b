import { type Html, html } from './html.js';

/** A section with its heading. */
export const section = (
  id: string,
  title: string,
  lead: Html | string,
  content: Html | readonly Html[],
): Html =>
  html`<section id="${id}"><header><h2>${title}</h2>${lead !== '' && html`<p>${lead}</p>`}</header>${content}</section>
`;

/** Names and values, for facts of one thing. Those without a value are left out. */
export function factsOf(
  facts: readonly (readonly [name: string, value: Html | string | null | undefined])[],
): Html {
  const known = facts.filter(([, value]) => value !== null && value !== undefined && value !== '');
  return html`<dl class="facts">${known.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}
