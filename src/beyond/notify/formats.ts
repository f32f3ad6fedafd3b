import { clip, withoutActing } from '../../base/config/printable.js';
import { linesOf, type Notice, type Part } from './notice.js';

/** What chats read as a mention, a link or markup, and what stands for it in a notice: texts of a feed may hold any of it. */
const MARKUP: readonly (readonly [RegExp, string])[] = [
  [/</g, '‹'],
  [/>/g, '›'],
  [/@/g, '＠'],
  [/:\/\//g, ': //'],
  [/\]\(/g, '] ('],
  [/`/g, "'"],
  // The name of a site without a scheme.
  [/(?<=[\p{L}\p{N}])\.(?=[\p{L}\p{N}-]*\p{L}{2})/gu, '․'],
];

/** A text that no chat reads as a mention, a link or markup. */
export const withoutMarkup = (text: string): string =>
  MARKUP.reduce((so, [found, instead]) => so.replaceAll(found, instead), withoutActing(text));

/** A notice as lines of text without any markup. */
export const plainText = (notice: Pick<Notice, 'parts'>): string => withoutMarkup(linesOf(notice).join('\n'));

/** A text of whole lines of at most so many bytes; a line says that the rest is left out. */
export function withinBytes(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text;
  const kept: string[] = [];
  let bytes = Buffer.byteLength(REST);
  for (const line of text.split('\n').map((each) => clip(each, 1000))) {
    bytes += Buffer.byteLength(line) + 1;
    if (bytes > most) break;
    kept.push(line);
  }
  return [...kept, REST].join('\n');
}

const REST = '… and more: lotlake watch, lotlake status';

/** A text in HTML, in which nothing of it is markup. */
const escaped = (text: string): string =>
  withoutMarkup(text).replaceAll(/[&"]/g, (found) => (found === '&' ? '&amp;' : '&quot;'));

const anchor = (link: string, text: string): string =>
  `<a href="${link.replaceAll('&', '&amp;').replaceAll('"', '&quot;')}">${text}</a>`;

/** What Telegram reads as a tag or as a command that a touch sends. */
const withoutCommands = (text: string): string =>
  text.replaceAll('#', '＃').replaceAll(/(?<![\w/])\/(?=\w)/g, '∕');

/** Characters that Telegram takes. */
const MOST_TELEGRAM = 4096;

/**
 * A notice in the HTML of Telegram: heads in bold, and a link to each lot. Lines that do not fit are left out, each head first. It has
 * at most 4,096 characters, with its markup.
 */
export function telegramHtml({ parts }: Pick<Notice, 'parts'>): string {
  const heads = parts.map(({ head }) => `<b>${escaped(withoutCommands(clip(head, 300)))}</b>`);
  const lines = parts.map((part) =>
    part.lines.map(({ text, link }) => {
      const words = escaped(withoutCommands(clip(text, 300)));
      return link === undefined ? words : `${words} ${anchor(link, 'lot')}`;
    }),
  );
  let left = MOST_TELEGRAM - REST.length - 1;
  const fits = (text: string): boolean => {
    if (text.length + 1 > left) return false;
    left -= text.length + 1;
    return true;
  };
  const shownHeads = heads.map(fits);
  const shown = lines.map((texts, i) => texts.filter((text) => shownHeads[i] === true && fits(text)));
  const isWhole =
    shownHeads.every((is) => is) && shown.every((texts, i) => texts.length === lines[i]?.length);
  const kept = heads.flatMap((head, i) => (shownHeads[i] === true ? [head, ...(shown[i] ?? [])] : []));
  return [...kept, ...(isWhole ? [] : [REST])].join('\n');
}

/** A notice as a page of a mail. */
export function mailHtml({ parts }: Pick<Notice, 'parts'>): string {
  const partOf = ({ head, lines }: Part): string => {
    const items = lines.map(
      ({ text, link }) => `<li>${escaped(text)}${link === undefined ? '' : ` ${anchor(link, 'lot')}`}</li>`,
    );
    return `<p>${escaped(head).replaceAll('\n', '<br>')}</p>${items.length === 0 ? '' : `<ul>${items.join('')}</ul>`}`;
  };
  return `<!doctype html><html lang="en"><body>${parts.map(partOf).join('\n')}</body></html>`;
}
