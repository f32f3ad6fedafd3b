import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { messageOf } from '../../base/config/lotlake-error.js';
import { type Plan, requestsPerDay } from '../../core/service/limits.js';
import { DAY, type Instant } from '../world/instants.js';
import { createWorld, type World, type WorldOptions } from '../world.js';
import { type AppState, highestRate, type LoggedRequest, respond } from './app.js';
import { type Faults, faultSource } from './faults.js';
import { allDomains } from './filters.js';
import { ADMIN_PATH, BASE_PATH } from './list-page.js';
import { createScrolls } from './scrolls.js';

/** Default number of continuation requests of one scroll: enough for a full pass at the smallest usual page. */
const SCROLL_REQUESTS = 5_000;

/** Options of a sandbox; all have a default. */
export interface SandboxOptions extends WorldOptions {
  /** Default 0: any free port. */
  readonly port?: number;
  /** The only accepted key. Default `sandbox-key`. */
  readonly apiKey?: string;
  /** Default `unlimited`. */
  readonly plan?: Plan;
  /** Sources that the key is enabled for. Default all. */
  readonly domains?: readonly number[];
  /** Value of `simple_paginate` in a request without it. Default 1. */
  readonly simplePaginateDefault?: 0 | 1;
  /** Requests a second before 429; null for no limit. Default null. */
  readonly rate?: number | null;
  /** Requests a calendar day of the sandbox's time before 429; null for no limit. Default 120 on `demo`, else null. */
  readonly requestsPerDay?: number | null;
  /** Continuation requests of one scroll. Default 5,000. */
  readonly scrollRequests?: number;
  /** Keeps encoded answers in memory, for benchmarks. Default false. */
  readonly cache?: boolean;
  readonly faults?: Faults;
  /** Time that answers name as their `Date`. Default none, because runs against the sandbox choose their clock. */
  readonly date?: () => Date;
}

/** A running sandbox. */
export type Sandbox = Readonly<Awaited<ReturnType<typeof startSandbox>>>;

/** Starts the service on 127.0.0.1. */
export async function startSandbox(options: SandboxOptions = {}) {
  const { apiKey = 'sandbox-key', plan = 'unlimited', simplePaginateDefault = 1 } = options;
  const { requestsPerDay: perDay = requestsPerDay[plan], domains = allDomains } = options;
  const started = performance.now();
  /** The world's clock, which stands still, plus the time that the sandbox has run. */
  const now = (): number => state.world.now + performance.now() - started;
  const state: AppState = {
    apiKey,
    access: { plan, simplePaginateDefault, domains },
    world: createWorld(options),
    faultsFor: faultSource(options.faults ?? []),
    scrolls: createScrolls(now, options.scrollRequests ?? SCROLL_REQUESTS),
    admits: rateBudget(options.rate ?? null),
    admitsToday: dayBudget(perDay, now),
    cache: options.cache === true ? new Map() : null,
    log: [],
  };
  const server = createServer((request, response) => {
    response.sendDate = false;
    if (options.date !== undefined) response.setHeader('date', options.date().toUTCString());
    respond(state, request, response).catch((error: unknown) => {
      if (response.headersSent) response.destroy();
      else response.writeHead(500, { 'content-type': 'text/plain' }).end(messageOf(error));
    });
  });
  server.listen(options.port ?? 0, '127.0.0.1');
  await once(server, 'listening');
  // A server that listens on TCP has an address with a port.
  const { port } = server.address() as AddressInfo;
  return {
    /** Base URL with the path prefix, such as `http://127.0.0.1:4000/api`. */
    url: `http://127.0.0.1:${port}${BASE_PATH}`,
    apiKey,
    get world(): World {
      return state.world;
    },
    get clock(): Date {
      return state.world.clock;
    },
    /** Moves the world to another time, from the next request on. */
    setClock: (clock: Date): void => {
      state.world = state.world.at(clock);
    },
    /** Replaces the faults; the counts of rules start again. */
    setFaults: (faults: Faults): void => {
      state.faultsFor = faultSource(faults);
    },
    /** Every request so far, oldest first. */
    requests: state.log as readonly LoggedRequest[],
    /** The highest number of requests within any one second so far, over all endpoints. */
    get highestRate(): number {
      return highestRate(state.log);
    },
    /** URL of the requests that only the sandbox has, such as `http://127.0.0.1:4000/sandbox`. */
    adminUrl: `http://127.0.0.1:${port}${ADMIN_PATH}`,
    /** Stops listening and tears down open connections. */
    close: () => close(server),
  };
}

/** Also resolves for a server that is closed. */
const close = (server: Server): Promise<void> =>
  new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });

/** A budget of requests a second over a sliding window; null for no limit. A call says whether one more may pass. */
export function rateBudget(rate: number | null, now: () => number = () => performance.now()): () => boolean {
  if (rate === null) return () => true;
  const windowMs = Math.max(1000, 1000 / rate);
  const allowed = Math.max(1, Math.floor(rate * (windowMs / 1000)));
  let passed: number[] = [];
  return () => {
    const since = now() - windowMs;
    passed = passed.filter((at) => at > since);
    if (passed.length >= allowed) return false;
    passed.push(now());
    return true;
  };
}

/**
 * A budget of requests a calendar day (UTC); null for no limit. A call counts a request and returns null if it is within
 * the budget, otherwise the seconds until the next day.
 */
function dayBudget(perDay: number | null, now: () => Instant): () => number | null {
  let day = Number.NaN;
  let used = 0;
  return () => {
    const today = Math.floor(now() / DAY);
    if (today !== day) [day, used] = [today, 0];
    used += 1;
    return perDay === null || used <= perDay ? null : Math.ceil(((today + 1) * DAY - now()) / 1000);
  };
}
