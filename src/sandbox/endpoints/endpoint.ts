import type { Fault } from '../server/fault.js';
import type { Plan } from '../server/plan.js';
import type { Scrolls } from '../server/scroll.js';
import type { World } from '../world.js';
import type { Parameters, Values } from './parameter.js';
import { readParameters } from './read-parameters.js';

/** What a key may do. */
export interface Access {
  readonly plan: Plan;
  /** What `simple_paginate` is when a request leaves it out. */
  readonly simplePaginateDefault: 0 | 1;
  /** Sources that the key is enabled for. */
  readonly domains: readonly number[];
}

/** One question to the service. */
export interface Question {
  readonly world: World;
  /** Path below the base URL. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly access: Access;
  readonly faults: readonly Fault[];
  readonly scrolls: Scrolls;
}

/** An endpoint as the router, the validation, the help and the documentation see it. */
export interface Endpoint {
  /** Path with its parameters in braces; a part in brackets may be left out. */
  readonly path: string;
  /** What it gives, as a sentence. */
  readonly what: string;
  readonly parameters: Parameters;
  /** The JSON text of the answer to a question; throws a Refusal. */
  readonly answer: (question: Question, path: ReadonlyMap<string, string>) => string;
}

/** What an endpoint is made of: `answer` gets the values of exactly the declared parameters. */
export interface Definition<P extends Parameters> {
  readonly path: string;
  readonly what: string;
  readonly parameters: P;
  readonly answer: (question: Question, values: Values<P>) => string;
}

/** Declares an endpoint. */
export const endpoint = <P extends Parameters>(definition: Definition<P>): Endpoint => ({
  ...definition,
  answer: (question, path) =>
    definition.answer(question, readParameters(definition.parameters, question.query, path)),
});

/** Names of the parameters that stand in an endpoint's path. */
export const pathParameters = ({ path }: Pick<Endpoint, 'path'>): readonly string[] =>
  [...path.matchAll(/\{(\w+)\}/g)].map((found) => found[1] ?? '');
