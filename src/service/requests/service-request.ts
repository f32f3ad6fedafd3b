/** Value of a parameter in a query: a list is sent as the same name repeated, undefined is left out. */
export type QueryValue = string | number | readonly (string | number)[] | undefined;

/** A GET that keeps the limits of the service, ready for the client. */
export interface ServiceRequest {
  /** Path below the base URL, its parameters escaped. */
  readonly path: string;
  readonly query: Readonly<Record<string, QueryValue>>;
}
