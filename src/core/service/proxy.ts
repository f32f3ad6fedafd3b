import { getProxyForUrl } from 'proxy-from-env';
import { Agent, ProxyAgent } from 'undici';
import { ConfigError } from '../../base/config/lotlake-error.js';
import { LOCAL } from '../../base/config/problems.js';

/**
 * URL of the proxy between this machine and a URL, as HTTPS_PROXY, HTTP_PROXY, ALL_PROXY and NO_PROXY say; undefined
 * if there is none, as for this machine itself. Throws ConfigError if it is not an HTTP proxy. The message does not repeat
 * it, because it may hold a password.
 */
export function proxyOf(url: string): string | undefined {
  const { protocol, hostname } = new URL(url);
  const proxy = LOCAL.includes(hostname) ? '' : getProxyForUrl(url);
  if (proxy === '' || (URL.canParse(proxy) && /^https?:$/.test(new URL(proxy).protocol)))
    return proxy || undefined;
  throw new ConfigError(
    `${protocol.slice(0, -1).toUpperCase()}_PROXY or ALL_PROXY holds no URL such as http://proxy:3128`,
    'correct the variable, or name the host in NO_PROXY',
  );
}

/** Connections to a URL, through its proxy if it has one. */
export function agentFor(url: string, options: Agent.Options = {}): Agent | ProxyAgent {
  const uri = proxyOf(url);
  return uri === undefined ? new Agent(options) : new ProxyAgent({ ...options, uri });
}
