import { packageFile } from './package-root.js';
import { allSettings, type Setting, sentenceOf } from './settings.js';

/** Value of a setting in the template. Without a default it is an empty text, which is refused with a hint. */
const example = ({ name, standard }: Setting): string =>
  name === 'baseUrl' ? '"https://host/api"' : JSON.stringify(standard ?? '');

/** What most lakes set. */
const USUAL: readonly string[] = ['baseUrl', 'output', 'rate', 'sources', 'notify.url', 'publish.to'];

/**
 * A file of settings with comments, in which every setting is commented out.
 * @param all with every setting, not only the usual ones
 */
export function settingsTemplate(all: boolean): string {
  const lines = allSettings.filter(({ name }) => name !== 'apiKey' && (all || USUAL.includes(name)));
  return [
    '// Settings of lotlake; lotlake config shows what is in force. Flags and variables of the environment stand over this',
    '// file. Remove the slashes before a setting to set it: shown is its default, or "" where it has none.',
    ...(all
      ? []
      : [
          '// These are the usual ones; lotlake init --all --force writes all, and lotlake config shows them.',
        ]),
    '// The key does not belong here: write LOTLAKE_API_KEY=… into a file .env beside this one, which nobody else can read',
    '// (chmod 600 .env) and which stays out of version control.',
    '{',
    lines
      .map((setting) =>
        [
          `  // ${setting.name === 'baseUrl' ? 'Fill this in: ' : ''}${sentenceOf(setting.name)} (${setting.variable})`,
          `  // "${setting.name}": ${example(setting)},`,
        ].join('\n'),
      )
      .join('\n\n'),
    '}\n',
  ].join('\n');
}

/**
 * Every setting as Markdown.
 * @param flagOf the flag of a setting with its commands; empty if it has none
 */
export function settingsMarkdown(flagOf: (name: string) => string): string {
  const rows = allSettings.map(({ name, variable, standard }) => [
    ...[`\`${name}\``, `\`${variable}\``, flagOf(name)],
    ...[
      standard === undefined ? '' : `\`${JSON.stringify(standard)}\``,
      sentenceOf(name).replaceAll('|', '\\|'),
    ],
  ]);
  const heads = ['setting', 'variable', 'flag', 'default', 'description'];
  const table = [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return packageFile('site/settings.md').replace('{table}', () => table.join('\n'));
}
