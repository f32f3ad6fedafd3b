import { gridOf } from '../../ask/query/table.js';
import { flagOf, type InForce, readSettings } from '../../base/config/config.js';
import { command } from '../command.js';
import { lakeOptions } from '../options.js';

/** Lists the settings in force, and where each comes from. */
export const config = command({
  options: {
    markdown: { type: 'boolean', default: false, describe: 'describe every setting as Markdown instead' },
  },
  async run({ markdown, input, print }, effects) {
    if (markdown) return effects.out(await settingsPage());
    const { inForce } = readSettings(input, effects);
    print(inForce, () =>
      gridOf(
        ['setting', 'value', 'from'],
        inForce.map(({ name, value, from }) => [name, shown(value), from]),
      ),
    );
  },
});

const shown = (value: InForce['value']): string =>
  typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value);

/** Every setting with what it does, as Markdown; the build writes it as docs/run/settings.md. */
export async function settingsPage(): Promise<string> {
  const { settingsMarkdown } = await import('../../base/config/settings-pages.js');
  const { run } = await import('./run.js');
  const { push } = await import('./push.js');
  return settingsMarkdown((name) => {
    const flag = flagOf(name);
    const [options, commands] = name.startsWith('publish.')
      ? [push.options, ' of `push`']
      : flag.slice(2) in lakeOptions
        ? [lakeOptions, '']
        : [run.options, ' of `run`'];
    return flag.slice(2) in Object(options) ? `\`${flag}\`${commands}` : '';
  });
}
