import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { nightly } from '../../pipelines/nightly.js';
import { type Sandbox, startSandbox } from '../../src/sandbox/index.js';
import { configFor, silentReporter, WITHOUT_CATALOG } from '../pipelines/support.js';
import type { VehicleRecord } from '../served.js';

const DAY = 86_400_000;

/** Night from which the odometers of some cars are set back. */
const SET_BACK = 4;

/**
 * Changes a vehicle of the sandbox, so that a lake of it has what the sandbox does not plant: Buy Now prices far below and far
 * above the value, odometers that are set back, a source that nobody knows, texts with markup.
 */
function widened(vehicle: VehicleRecord, nightNumber: number): void {
  const { id } = vehicle;
  for (const lot of vehicle.lots) {
    const mine = id * 7 + lot.id;
    if (mine % 9 === 0 && (lot.buy_now ?? 0) > 0) lot.buy_now = Math.round(Number(lot.buy_now) * 0.4);
    if (mine % 9 === 1 && (lot.buy_now ?? 0) > 0) lot.buy_now = Math.round(Number(lot.buy_now) * 3);
    if (id % 31 === 0 && nightNumber >= SET_BACK && lot.odometer !== null && lot.odometer.km > 60_000) {
      const km = Math.round(lot.odometer.km / 3);
      lot.odometer = { ...lot.odometer, km, mi: Math.round(km / 1.609_344) };
    }
    if (id % 53 === 0) lot.domain = { id: 77, name: 'newsite_com' };
    if (id % 101 === 0)
      lot.seller = { id: 900_000 + (id % 5), name: `<b>Sons & "Daughters"</b> \u202e${id % 5}` };
  }
}

/** A proxy before a sandbox that widens the vehicles of its answers. */
async function widening(sandbox: Sandbox, nightNumber: number) {
  const pass = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { origin } = new URL(sandbox.url);
    const { authorization, 'x-api-key': key } = request.headers;
    const answer = await fetch(`${origin}${request.url}`, {
      headers: {
        ...(authorization !== undefined && { authorization }),
        ...(typeof key === 'string' && { 'x-api-key': key }),
      },
    });
    const text = await answer.text();
    const isCars = /\/cars(\?|$)/.test(request.url ?? '') && answer.ok;
    const page = isCars ? (JSON.parse(text) as { data: VehicleRecord[] }) : undefined;
    for (const vehicle of page?.data ?? []) widened(vehicle, nightNumber);
    // The clock of a sandbox is that of its world.
    response.sendDate = false;
    const kept = ['content-type', 'date', 'retry-after'].map((name) => [name, answer.headers.get(name)]);
    response.writeHead(answer.status, Object.fromEntries(kept.filter(([, value]) => value !== null)));
    response.end(page === undefined ? text : JSON.stringify(page));
  };
  const server = createServer((request, response) => {
    // A connection to the sandbox that breaks breaks the one to the client too, which asks again.
    pass(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const { pathname, search } = new URL(sandbox.url);
  return { url: `http://127.0.0.1:${port}${pathname}${search}`, close: () => server.close() };
}

/** Nights in a row of a widened world of the sandbox. Returns the time of the last one. */
export async function wideNights(
  output: string,
  { vehicles, nights }: { readonly vehicles: number; readonly nights: number },
): Promise<Date> {
  const first = Date.parse('2026-11-11T04:00:00Z');
  let clock = new Date(first);
  for (let i = 0; i < nights; i++) {
    clock = new Date(first + i * DAY);
    const sandbox = await startSandbox({ vehicles, clock, faults: WITHOUT_CATALOG });
    const service = await widening(sandbox, i);
    try {
      await nightly({
        config: configFor(service.url, output, { apiKey: sandbox.apiKey, threads: 2, memory: '2GB' }),
        reporter: silentReporter(),
        now: () => clock,
      });
    } finally {
      service.close();
      await sandbox.close();
    }
  }
  return clock;
}
