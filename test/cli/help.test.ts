import { describe, expect, it } from 'vitest';
import { pipelineNames } from '../../pipelines/index.js';
import type { Command } from '../../src/cli/command.js';
import { HELP, LOADERS, usages } from '../../src/cli/commands.js';
import { createParser } from '../../src/cli/parser.js';
import { temporaryFolder } from '../pipelines/support.js';

const folder = temporaryFolder();
folder.remove();
const screen = { width: 80, env: {}, cwd: folder.path };

/** The output of a command line before it executes anything. Throws what the parser refuses. */
async function printed(words: readonly string[]): Promise<string> {
  let output = '';
  const cli = await createParser(words, screen, async () => undefined);
  await cli.parseAsync([...words], {}, (_error: unknown, _argv: unknown, text: string) => {
    output = text;
  });
  return output;
}

/** The command and the values that a command line parses to. */
async function understood(words: readonly string[]) {
  const found: { command: Command; values: Readonly<Record<string, unknown>> }[] = [];
  const cli = await createParser(
    words,
    screen,
    async (command, values) => void found.push({ command, values }),
  );
  await cli.parseAsync();
  expect(found).toHaveLength(1);
  return found[0];
}

/** The words of an example as a shell splits them, up to a pipe. */
const split = (text: string): string[] =>
  (text.split(' | ')[0]?.match(/"[^"]*"|\S+/g) ?? []).map((word) => word.replaceAll('"', ''));

const topics = [
  [],
  ...usages.map((usage) => [usage.split(' ')[0] ?? '']),
  ...pipelineNames.map((name) => ['run', name]),
];

describe('the help', () => {
  it.each(topics.map((words) => [words.join(' '), words]))(
    'of lotlake %s fits a screen',
    async (_, words) => {
      const lines = (await printed([...words, '--help'])).split('\n');
      expect(lines.length).toBeLessThanOrEqual(40);
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
      expect(lines).toContain('Examples:');
    },
  );

  it.each(topics.map((words) => [words.join(' '), words]))(
    'of lotlake %s comes for -h, too',
    async (_, words) => {
      expect(await printed([...words, '-h'])).toBe(await printed([...words, '--help']));
    },
  );

  it('of a pipeline has only its options', async () => {
    const nightly = await printed(['run', 'nightly', '--help']);
    expect(nightly).toMatch(/^lotlake run nightly\n\nRead the whole feed/);
    expect(nightly).toContain('--allow-shrink');
    expect(nightly).not.toContain('--everything');
    expect(await printed(['run', 'reference', '--help'])).toContain('--everything');
  });
});

describe('the version', () => {
  it('comes for -v, too', async () => {
    expect(await printed(['-v'])).toBe(await printed(['--version']));
  });
});

describe('the examples', () => {
  it.each(usages)('of %s are understood', async (usage) => {
    const command = await LOADERS[usage]();
    const help = HELP[usage];
    const topical = usage.startsWith('run ') ? pipelineNames.map((name) => help.topics?.[name]) : [];
    const examples = [...help.examples, ...topical.flatMap((topic) => topic?.examples ?? [])];
    expect(examples.length).toBeGreaterThan(0);
    for (const [text = ''] of examples) {
      const words = split(text);
      if (words.includes('--help')) continue;
      expect((await understood(words))?.command, text).toBe(command);
    }
  });

  it('would be refused if an option had another name', async () => {
    await expect(understood(['runs', '--limits', '5'])).rejects.toThrow('--limits');
  });
});
