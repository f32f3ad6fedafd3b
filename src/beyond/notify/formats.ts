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

/**
 * A notice in the HTML of Telegram: heads in bold, and a link to each lot. Parts are left out at the end so that it has at most
 * 4,096 characters, with its markup.
 */
export function telegramHtml({ parts }: Pick<Notice, 'parts'>): string {
  const partOf = ({ head, lines }: Part): string =>
    [
      `<b>${escaped(withoutCommands(clip(head, 1000)))}</b>`,
      ...lines.map(({ text, link }) => {
        const words = escaped(withoutCommands(clip(text, 500)));
        return link === undefined ? words : `${words} ${anchor(link, 'lot')}`;
      }),
    ].join('\n');
  const shown: string[] = [];
  let left = 4096 - REST.length - 1;
  for (const text of parts.map(partOf)) {
    left -= text.length + 1;
    if (left < 0) return [...shown, REST].join('\n');
    shown.push(text);
  }
  return shown.join('\n');
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
