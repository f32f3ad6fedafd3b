import { readConfig } from '../../base/config/config.js';
import { command } from '../command.js';
import { mirrorOptions, pushedText, pushLake } from '../mirror.js';

/** Pushes the published lake to its mirror in object storage, and says what was sent. */
export const push = command({
  options: {
    ...mirrorOptions,
    landing: { type: 'boolean', describe: 'push sealed passes of landing, too' },
    'dry-run': {
      type: 'boolean',
      default: false,
      describe: 'say what would be sent and what that costs, send nothing',
    },
    'discard-foreign': {
      type: 'boolean',
      default: false,
      describe: 'remove Iceberg metadata of the mirror that another program wrote',
    },
  },
  async run({ to, endpoint, region, pathStyle, landing, dryRun, discardForeign, print, input }, effects) {
    const publish = { to, endpoint, region, pathStyle, landing };
    const config = readConfig({ ...input, publish }, effects);
    const warn = (message: string): void => effects.err(`warning    ${message}\n`);
    const pushed = await pushLake(config, effects, warn, { dryRun, discardForeign });
    print(pushed, () => pushedText(pushed));
  },
});
