/** An answer with an error that the service sends on purpose (service.md#errors). */
export class Refusal extends Error {
  override readonly name = 'Refusal';

  constructor(
    readonly status: number,
    readonly body: object,
    readonly headers: Readonly<Record<string, string>> = {},
  ) {
    super(`refused with ${status}`);
  }
}

/** 400: a parameter is wrong. */
export const badRequest = (parameter: string, message: string): Refusal =>
  new Refusal(400, { message, errors: { [parameter]: [message] } });

/** 404: nothing was found. */
export const notFound = (what: string): Refusal => new Refusal(404, { message: `${what} not found` });

/** 429 with `Retry-After` in seconds. */
export const tooMany = (seconds: number, message = 'Too Many Attempts.'): Refusal =>
  new Refusal(429, { message }, { 'retry-after': String(seconds) });
