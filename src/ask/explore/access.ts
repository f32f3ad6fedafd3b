import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { html } from 'hono/html';

/** A new token, 192 bits in the letters of an address. */
export const newToken = (): string => randomBytes(24).toString('base64url');

/** Compares without telling by its time how much is equal. */
function isSame(given: string | undefined, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

/**
 * Answers only who knows the token: from the address that the command prints, then from a cookie. A page of another site can
 * neither read nor ask anything: its name for this machine is refused (Host), as is its origin, and its requests come without the
 * cookie. Nothing is fetched from elsewhere; pictures only on a page that asks for them.
 * @param portOf the port that the server listens on
 */
export function guard(token: string, portOf: () => number): MiddlewareHandler {
  return async (c, next) => {
    const port = portOf();
    const hosts = [`127.0.0.1:${port}`, `localhost:${port}`];
    const host = c.req.header('host') ?? '';
    const origin = c.req.header('origin');
    if (!hosts.includes(host)) return refuse(c, 421, 'This address is not one of this server.');
    const isForeign = origin !== undefined && origin !== `http://${host}`;
    const isAsking = c.req.method === 'GET' || c.req.method === 'HEAD';
    if (isForeign || (!isAsking && origin === undefined))
      return refuse(c, 403, 'Another site may not ask this server.');
    const { token: given, ...query } = c.req.query();
    const cookie = `lotlake-${port}`;
    if (isAsking && isSame(given, token)) {
      setCookie(c, cookie, token, { httpOnly: true, sameSite: 'Strict', path: '/' });
      const rest = new URLSearchParams(query).toString();
      return c.redirect(`${c.req.path}${rest && `?${rest}`}`, 303);
    }
    if (!isSame(getCookie(c, cookie), token))
      return refuse(
        c,
        403,
        'Open the address that lotlake explore printed: it holds the token of this server.',
      );
    protect(c);
    await next();
    return undefined;
  };
}

/**
 * Sets what a page may load: of its own server alone.
 * @param options pictures also from elsewhere; styles that the editor writes, which have the nonce
 */
export function protect(c: Context, { pictures = false, nonce = '' } = {}): void {
  const images = pictures ? ' https:' : '';
  const styles = nonce === '' ? '' : ` 'nonce-${nonce}'`;
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    `style-src 'self'${styles}`,
    "style-src-attr 'unsafe-inline'",
    `img-src 'self' data:${images}`,
    "connect-src 'self'",
    "form-action 'self'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
  ];
  c.header('content-security-policy', policy.join('; '));
  c.header('cross-origin-opener-policy', 'same-origin');
  c.header('cross-origin-resource-policy', 'same-origin');
  c.header('x-content-type-options', 'nosniff');
  c.header('referrer-policy', 'no-referrer');
  c.header('cache-control', 'no-store');
}

function refuse(c: Context, status: 403 | 421, words: string) {
  protect(c);
  return c.html(html`<!doctype html><html lang="en"><title>lotlake</title><p>${words}</p></html>`, status);
}
