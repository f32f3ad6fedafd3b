import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Context, MiddlewareHandler } from 'hono';
import { getCookie, setCookie } from 'hono/cookie';
import { type Html, html } from '../page/html.js';

/** A new token, 192 bits in the letters of an address. */
export const newToken = (): string => randomBytes(24).toString('base64url');

/**
 * A new name of this machine. Browsers find every name below localhost here without asking anybody. Cookies know no ports, so
 * under a name that others know, a page of another port would get the cookie.
 */
export const newName = (): string => `lotlake-${randomBytes(10).toString('hex')}.localhost`;

/** Compares without telling by its time how much is equal. */
function isSame(given: string | undefined, token: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
  return given !== undefined && timingSafeEqual(digest(given), digest(token));
}

/** Where a request of a browser may come from: a page of this server, or an address that the reader typed or opened. */
const OWN_SITES: ReadonlySet<string> = new Set(['same-origin', 'none']);

/**
 * Answers only who knows the token: from the address that the command prints, then from a cookie. A page of another site, or of
 * another port, can neither read nor ask anything: it does not know the name of the server (Host), its origin is refused, and
 * its requests come without the cookie. Nothing is fetched from elsewhere; pictures only on a page that asks for them.
 * @param hostOf name and port of the server
 */
export function guard(token: string, hostOf: () => string): MiddlewareHandler {
  return async (c, next) => {
    const host = hostOf();
    if (c.req.header('host') !== host) return refuse(c, 421, ELSEWHERE);
    const origin = c.req.header('origin');
    const site = c.req.header('sec-fetch-site');
    const isAsking = c.req.method === 'GET' || c.req.method === 'HEAD';
    const { token: given, ...query } = c.req.query();
    const isOpening = isAsking && isSame(tokenIn(given), token);
    const isForeign =
      (origin !== undefined && origin !== `http://${host}`) || (site !== undefined && !OWN_SITES.has(site));
    if (!isOpening && (isForeign || (!isAsking && origin === undefined)))
      return refuse(c, 403, 'Another site may not ask this server.');
    const cookie = `lotlake-${new URL(`http://${host}`).port}`;
    if (isOpening) {
      setCookie(c, cookie, token, { httpOnly: true, sameSite: 'Strict', path: '/' });
      return reopen(c, `/${c.req.path.replace(/^\/+/, '')}`, new URLSearchParams(query), isForeign);
    }
    if (!isSame(getCookie(c, cookie), token))
      return refuse(c, 403, given === undefined ? ELSEWHERE : WRONG, TOKEN_FORM);
    protect(c);
    await next();
    return undefined;
  };
}

/** The token that a reader gives, alone or in the whole address. */
const tokenIn = (given: string | undefined): string | undefined => given?.trim().replace(/^.*[?&]token=/, '');

const ELSEWHERE =
  'Open the address that lotlake explore printed: it holds the name and the token of this server.';
const WRONG = `This is not the token of this server. ${ELSEWHERE}`;
/** For who knows the token, and whose browser lost the cookie. */
const TOKEN_FORM = html`<form action="/"><label>Token, or the whole address <input name="token" size="50" maxlength="200" required autofocus autocomplete="off"></label> <button>Open</button></form>`;

/**
 * Leads to the address without the token. After a link on a page of another site a browser sends no cookie along a redirect, so
 * a page of this server leads on.
 */
function reopen(c: Context, path: string, query: URLSearchParams, isForeign: boolean) {
  const to = query.size === 0 ? path : `${path}?${query}`;
  protect(c);
  if (!isForeign) return c.redirect(to, 303);
  c.header('refresh', `0; url=${to}`);
  return c.html(bare(html`<p><a href="${to}">Go on</a></p>`));
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
  // With no-referrer, a browser sends the origin null with the forms of the page itself.
  c.header('referrer-policy', 'same-origin');
  c.header('cache-control', 'no-store');
}

function refuse(c: Context, status: 403 | 421, words: string, more?: Html) {
  protect(c);
  return c.html(bare(html`<p>${words}</p>${more}`), status);
}

/** A page for who may not load styles. */
const bare = (content: Html): Html =>
  html`<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>lotlake</title>${content}</html>`;
