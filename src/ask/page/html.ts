import { html as markup, raw } from 'hono/html';
import { withoutActing } from '../../base/config/printable.js';

export { raw };

/** A piece of a page, made by the `html` template, which escapes every value put into it. */
export type Html = ReturnType<typeof markup>;

/** The template of pages. Characters of a value that would act on the text around them, such as its direction, become spaces. */
export const html = (parts: TemplateStringsArray, ...values: unknown[]): Html =>
  markup(parts, ...values.map(calmed));

/** A text in a field of a form, which is sent back as it came: its characters are written as references. */
export const exactly = (text: string): Html =>
  raw(
    [...text.replaceAll('\r\n', '\n')]
      .map((letter) => (/[\w\s.,;:()*=/-]/.test(letter) ? letter : `&#${letter.codePointAt(0)};`))
      .join(''),
  );

const calmed = (value: unknown): unknown => {
  if (typeof value === 'string') return withoutActing(value);
  return Array.isArray(value) ? value.map(calmed) : value;
};

/** Path of the page of a table or mart below the root of the pages. */
export const pathOf = ({ kind, name }: { readonly kind: string; readonly name: string }): string =>
  `${kind}s/${name}.html`;
