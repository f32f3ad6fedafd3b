import { setTimeout as sleep } from 'node:timers/promises';
import type { Config } from '../../base/config/config.js';
import { causesOf, codeOf, LotlakeError } from '../../base/config/lotlake-error.js';
import { LEAST_PART } from '../../base/config/redact.js';
import { sources } from '../../base/config/settings.js';
import { assertOrigin } from '../../core/job/job.js';
import { currentSnapshot, layoutOf } from '../../core/lake/layout.js';
import { manifestIn } from '../../core/lake/manifest.js';
import {
  type Answer,
  assertService,
  type Client,
  createClient,
  readJson,
} from '../../core/service/client.js';
import { aheadText, compareClocks, SKEW } from '../../core/service/compare-clocks.js';
import { isFailure, ServiceError } from '../../core/service/errors.js';
import { pageSizes } from '../../core/service/limits.js';
import { proxyOf } from '../../core/service/proxy.js';
import { requests } from '../../core/service/requests.js';
import type { DoctorContext, Finding } from './local.js';

/** Seconds without a byte after which a check gives up; a run waits longer. */
const PATIENCE = 20;

/** Milliseconds after which the `Date` of a live answer has moved on. */
const MOVED_ON = 1100;

/**
 * Says where the key will be sent, before it is. Throws LAKE_ORIGIN if the lake is that of another service: a base URL that
 * came from elsewhere must not get the key.
 */
export function checkOrigin(config: Config, { err }: Pick<DoctorContext['effects'], 'err'>): Finding<Config> {
  const { baseUrl } = assertService(config);
  const layout = layoutOf(config.output);
  const current = currentSnapshot(layout);
  const manifest = current === undefined ? undefined : manifestIn(current);
  assertOrigin({ base: manifest && { manifest }, layout, config });
  err(`the key is sent to ${baseUrl}\n`);
  return { text: baseUrl, value: config };
}

/** A service that answered a request for a page of `/cars`. */
export type Reached = Awaited<ReturnType<typeof checkNetwork>>['value'];

/** Requests a page of the configured size without reading it. Any answer shows that the service can be reached. */
export async function checkNetwork(
  config: Config,
  { now, signal }: Pick<DoctorContext['effects'], 'now' | 'signal'>,
) {
  const { baseUrl, apiKey } = assertService(config);
  const proxy = proxyOf(baseUrl);
  const through = proxy === undefined ? '' : ` through the proxy ${new URL(proxy).host}`;
  const clocks = compareClocks();
  const client = createClient({
    baseUrl,
    apiKey,
    rate: config.rate,
    retryBudget: 0,
    timeout: Math.min(config.timeout, PATIENCE),
    onAnswer: (_, headers = {}) => {
      clocks.hear(headers, now());
    },
  });
  const perPage = Math.min(config.perPage, pageSizes.cars.most);
  const began = performance.now();
  const error = await ask(client, requests.cars({ per_page: perPage, simple_paginate: true }), signal);
  const ms = Math.round(performance.now() - began);
  if (isFailure(error, 'SERVICE_UNREACHABLE')) {
    await client.close();
    throw withHint(error, through);
  }
  // One answer may come from a cache, so another request must agree with it.
  for (let more = 0; more < 2 && clocks.isUnsure; more++) {
    await sleep(MOVED_ON, undefined, { signal });
    await ask(client, requests.cars({ per_page: 1, simple_paginate: true }), signal);
  }
  const text = `${new URL(baseUrl).host} answers${through} (${ms} ms)`;
  return {
    text,
    value: {
      config,
      client,
      signal,
      /** Requested records of the page. */
      perPage,
      /** The service's answer if it was an error. */
      error,
      /** What the answers told about the clock here. */
      clocks,
    },
  };
}

/** Sends a request. Returns an error that the service answered, and throws any other error. */
async function ask(
  client: Client,
  { path, query }: ReturnType<typeof requests.cars>,
  signal: AbortSignal,
  read: (answer: Answer) => Promise<void> = async () => undefined,
): Promise<ServiceError | undefined> {
  try {
    await client.get(path, query, read, signal);
    return undefined;
  } catch (error) {
    if (error instanceof ServiceError) return error;
    throw error;
  }
}

/** Adds a hint that fits the cause of an error: the proxy, or a certificate. */
function withHint(error: ServiceError, through: string): LotlakeError {
  const isCertificate = causesOf(error).some((cause) => /CERT|SIGNATURE/.test(String(codeOf(cause))));
  const { message, code, outcome, retryable, cause } = error;
  const hint = isCertificate
    ? 'name the certificate of the authority that signed it in NODE_EXTRA_CA_CERTS, and check the clock of this machine'
    : through === ''
      ? 'check the network and LOTLAKE_BASE_URL; behind a proxy, set HTTPS_PROXY'
      : `it was asked${through}: check HTTPS_PROXY, or name the host in NO_PROXY`;
  return new LotlakeError(code, message, { outcome, retryable, cause, hint });
}

/** Compares the clock with the service's clock, as a run does. */
export function checkClock({ clocks: { ahead, isUnsure } }: Reached): Finding {
  if (isUnsure)
    return {
      text: 'the answers are dated hours from one another',
      hint: 'a cache may keep them, which must not be: what it gives is old; a run takes its time from the clock of this machine',
    };
  if (ahead === undefined) return { text: 'the service does not tell its time' };
  const text = aheadText(ahead);
  const hint =
    'set the clock of this machine, such as by NTP; a run takes its time from the service, and is refused past an hour';
  if (Math.abs(ahead) > SKEW.refused) throw new LotlakeError('SYSTEM_FAILED', text, { hint });
  return Math.abs(ahead) >= SKEW.warning ? { text, hint } : { text };
}

/** Checks that the service accepts the key. If it refuses only the page size, it accepted the key. */
export function checkKey(reached: Reached): Finding<Reached> {
  const { error } = reached;
  if (error !== undefined && !isFailure(error, 'SERVICE_BAD_REQUEST')) throw error;
  const text = 'the service accepts the key';
  const { apiKey = '' } = reached.config;
  if (apiKey.length >= LEAST_PART) return { text, value: reached };
  const hint = `it has less than ${LEAST_PART} characters, so it is hidden only where it stands alone or behind its name; ask for a longer one`;
  return { text, hint, value: reached };
}

/** Checks which sources the key has, and whether its plan allows the page size. */
export async function checkPlan(reached: Reached): Promise<Finding<Reached>> {
  const { config, client, signal, perPage, error } = reached;
  const wanted = config.sources ?? Object.keys(sources).map(Number);
  const refused: ServiceError[] = [];
  const enabled: number[] = [];
  for (const domain_id of wanted) {
    const request = requests.cars({ domain_id, per_page: 1, simple_paginate: true });
    const answer = await ask(client, request, signal, readPage);
    if (answer !== undefined && !isFailure(answer, 'SERVICE_SOURCE_REFUSED')) throw answer;
    if (answer === undefined) enabled.push(domain_id);
    else refused.push(answer);
  }
  const [first] = refused;
  if (enabled.length === 0 && first !== undefined) throw first;
  const missing = wanted.filter((id) => !enabled.includes(id));
  const text = `sources ${enabled.join(', ')}${missing.length === 0 ? '' : ` and not ${missing.join(', ')}`}; ${perPage} records a page; ${config.rate} requests a second, as configured: the service names no limit`;
  if (error !== undefined)
    return {
      text: `the plan refuses ${perPage} records a page: ${error.message}`,
      hint: `a run goes on with the size of the service itself, at the cost of one request; set LOTLAKE_PER_PAGE=${pageSizes.cars.fallback} to spare it`,
      value: reached,
    };
  if (config.sources !== undefined && first !== undefined)
    return {
      text: `the key lacks a source that is asked for: ${first.message}`,
      hint: 'a run leaves the source as it is; have it enabled for the key, or leave it out of LOTLAKE_SOURCES',
      value: reached,
    };
  return { text, value: reached };
}

/** Reads a small page. Throws if the answer is not a page, as from another service. */
async function readPage(answer: Answer): Promise<void> {
  const body = await readJson(answer);
  if (Array.isArray(Reflect.get(Object(body), 'data'))) return;
  const detail = 'the answer is not a page';
  throw new ServiceError('SERVICE_UNEXPECTED', { url: answer.url, status: 200, detail });
}
