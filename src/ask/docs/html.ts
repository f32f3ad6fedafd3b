import { html } from 'hono/html';
import { packageFile } from '../../base/config/package-root.js';

/** A piece of a page, made by the `html` template, which escapes every value put into it. */
export type Html = ReturnType<typeof html>;

/** A page of the folder `site` whose names in braces are replaced by values. Texts are escaped. */
export function fillPage(name: string, values: Readonly<Record<string, unknown>>): string {
  const page = packageFile(`site/${name}`);
  return page.replaceAll(/\{(\w+)\}/g, (_, value: string) => String(html`${values[value]}`));
}

/** Path of the page of a table or mart below the root of the pages. */
export const pathOf = ({ kind, name }: { readonly kind: string; readonly name: string }): string =>
  `${kind}s/${name}.html`;
