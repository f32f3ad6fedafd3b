import { allSettings, type Setting } from './settings.js';

/** Command that writes docs/settings.md. */
export const SETTINGS_COMMAND = 'npm run docs:tables';

/** Value with which a setting stands in the file; the empty text of a setting without a default is refused with a hint. */
const example = ({ name, standard }: Setting): string =>
  name === 'baseUrl' ? '"https://host/api"' : JSON.stringify(standard ?? '');

/** A file of settings with comments, in which every setting is commented out. */
export function settingsTemplate(): string {
  const lines = allSettings.filter(({ name }) => name !== 'apiKey');
  return [
    '// Settings of lotlake; lotlake config shows what is in force. Flags and variables of the environment stand over this',
    '// file. Remove the slashes before a setting to set it: shown is its default, or "" where it has none.',
    '// The key does not belong here: write LOTLAKE_API_KEY=… into a file .env beside this one, which nobody else can read',
    '// (chmod 600 .env) and which stays out of version control.',
    '{',
    lines
      .map((setting) =>
        [
          `  // ${setting.name === 'baseUrl' ? 'Fill this in: ' : ''}${setting.description} (${setting.variable})`,
          `  // "${setting.name}": ${example(setting)},`,
        ].join('\n'),
      )
      .join('\n\n'),
    '}\n',
  ].join('\n');
}

/**
 * Every setting as Markdown.
 * @param flagOf the flag of a setting with its commands; empty where it has none
 */
export function settingsMarkdown(flagOf: (name: string) => string): string {
  const rows = allSettings.map(({ name, variable, standard, description }) => [
    ...[`\`${name}\``, `\`${variable}\``, flagOf(name)],
    ...[standard === undefined ? '' : `\`${JSON.stringify(standard)}\``, description.replaceAll('|', '\\|')],
  ]);
  const heads = ['setting', 'variable', 'flag', 'default', 'description'];
  const table = [heads, heads.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`);
  return `${[...INTRO, RULES.join('\n'), table.join('\n')].join('\n\n')}\n`;
}

const INTRO = [
  '# Settings',
  `Generated from the settings in the code by \`${SETTINGS_COMMAND}\`.`,
  'A flag stands over a variable of the environment, the environment over `.env`, `.env` over `lotlake.config.json`, and the file over the default. All settings are checked before anything is made or asked. `lotlake config` shows what is in force and where it comes from.',
];

const RULES = [
  '- `lotlake.config.json` is looked for in the working folder and in the folders above it; `--config` names another file. It is JSON with comments. A member of an object can be written as `"publish.to": …` or as `"publish": {"to": …}`. `lotlake init` writes a file with every setting commented out.',
  '- Relative paths in a file, and the default `output`, lead from the folder of that file; without a file, and in flags and variables, from the working folder.',
  '- `.env` is read in the folder of `lotlake.config.json`, or in the working folder if there is none. Of it lotlake takes `LOTLAKE_…`, `AWS_…` (for the mirror) and the variables of proxies. What the environment sets stays as it is. A variable that is empty counts as one that is not set.',
  '- `LOTLAKE_API_KEY_FILE` names a file with the key, in place of `LOTLAKE_API_KEY`. `run` and `doctor` warn if others can read that file, or an `.env` or a `lotlake.config.json` with a secret. `LOTLAKE_CATALOG_TOKEN` is the token of a REST catalog.',
  '- `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` (or in lower case) name the proxy, such as `http://proxy:3128`, for the service, the mirror, the REST catalog, lineage and the webhook. `HTTP_PROXY` is for URLs of http alone. `NO_PROXY` names hosts, such as `s3.example.com`, and domains, such as `.example.com`. Addresses of this machine are never proxied. For a certificate of your own, set `NODE_EXTRA_CA_CERTS`.',
];
