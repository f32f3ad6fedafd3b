import { once } from 'node:events';
import type { Effects } from '../effects.js';

/** Options of `lotlake sandbox`. */
export interface SandboxCommandOptions {
  readonly port: number;
  readonly vehicles: number;
  readonly seed: number;
  readonly clock: Date | undefined;
  readonly plan: 'demo' | 'small' | 'unlimited';
  readonly rate?: number | undefined;
}

/** Serves the sandbox until the user ends it. */
export async function sandbox(options: SandboxCommandOptions, effects: Effects): Promise<void> {
  const { startSandbox } = await import('../../sandbox/server/start.js');
  const service = await startSandbox({
    port: options.port,
    vehicles: options.vehicles,
    seed: options.seed,
    plan: options.plan,
    rate: options.rate ?? null,
    clock: options.clock ?? effects.now(),
  });
  effects.out(
    [
      `The sandbox listens on ${service.url} with the key ${service.apiKey}.`,
      `  curl -s -H 'x-api-key: ${service.apiKey}' '${service.url}/cars?per_page=2&prices_history=1'`,
      `  LOTLAKE_BASE_URL=${service.url} LOTLAKE_API_KEY=${service.apiKey} LOTLAKE_RATE=100 npx lotlake run nightly`,
      'Ctrl-C ends it.',
      '',
    ].join('\n'),
  );
  if (!effects.signal.aborted) await once(effects.signal, 'abort');
  await service.close();
}
