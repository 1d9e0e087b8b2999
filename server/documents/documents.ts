import type { MethodContext } from '../../shared/method.js';
import type { ApiDocument } from '../../shared/operation-types.js';
import { AsyncApiWriter } from './asyncapi.js';
import type { GatewayFacts } from './facts.js';
import { OpenApiWriter } from './openapi.js';

/** The documents of a gateway: what its doors really serve, from the tables and schemas that serve it. */
export class Documents {
  readonly #openapi: OpenApiWriter;
  readonly #asyncapi: AsyncApiWriter;

  constructor(facts: GatewayFacts) {
    this.#openapi = new OpenApiWriter(facts);
    this.#asyncapi = new AsyncApiWriter(facts);
  }

  openapi(user: MethodContext['user']): ApiDocument {
    return this.#openapi.write(user);
  }

  asyncapi(user: MethodContext['user']): ApiDocument {
    return this.#asyncapi.write(user);
  }
}
