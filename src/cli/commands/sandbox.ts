import { once } from 'node:events';
import { calledAs, command } from '../command.js';
import { positiveNumber, wholeNumber, worldOf } from '../option-values.js';
import { worldOptions } from '../options.js';

/** Serves the sandbox until the user ends it. */
export const sandbox = command({
  hasNoLake: true,
  options: {
    ...worldOptions,
    port: { type: 'string', default: '8787', describe: 'port on 127.0.0.1' },
    plan: { choices: ['demo', 'small', 'unlimited'], default: 'unlimited', describe: 'plan of the key' },
    rate: { type: 'string', describe: 'requests a second before it answers 429' },
    law: {
      choices: ['plain', 'rich'],
      default: 'plain',
      describe: 'prices: each fact has a factor, or facts interact',
    },
    endpoints: {
      type: 'boolean',
      default: false,
      describe: 'list the endpoints with their parameters instead',
    },
  },
  async run(given, effects) {
    if (given.endpoints) {
      const { endpointHelp } = await import('../../sandbox/server/help.js');
      return effects.out(endpointHelp());
    }
    const world = worldOf(given, effects.now());
    const port = wholeNumber('--port', given.port, 0, 65_535);
    const rate = given.rate === undefined ? null : positiveNumber('--rate', given.rate, 1e6);
    const { startSandbox } = await import('../../sandbox/server/start.js');
    const service = await startSandbox({
      ...world,
      law: given.law,
      port,
      plan: given.plan,
      rate,
      date: effects.now,
    });
    effects.out(
      [
        `The sandbox listens on ${service.url} with the key ${service.apiKey}.`,
        `  curl -s -H 'x-api-key: ${service.apiKey}' '${service.url}/cars?per_page=2&prices_history=1'`,
        `  LOTLAKE_BASE_URL=${service.url} LOTLAKE_API_KEY=${service.apiKey} LOTLAKE_RATE=100 ${calledAs(effects.env)} run nightly`,
        'Ctrl-C ends it.',
        '',
      ].join('\n'),
    );
    if (!effects.signal.aborted) await once(effects.signal, 'abort');
    await service.close();
  },
});
