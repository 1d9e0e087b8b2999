import type { MethodContext } from '../../shared/method.js';
import type { ApiDocument } from '../../shared/operation-types.js';
import { holdsAnyRole } from '../methods/call.js';
import type { MethodEntry } from '../methods/flatten.js';
import { AsyncApiWriter } from './asyncapi.js';
import type { GatewayFacts } from './facts.js';
import { OpenApiWriter } from './openapi.js';

/** Documents kept at most, one for each set of visible methods. */
const KEPT = 32;

/** The documents of a gateway, written from the same tables and schemas that its doors use. */
export class Documents {
  readonly #openapi: OpenApiWriter;
  readonly #asyncapi: AsyncApiWriter;
  /** The methods that need a role. */
  readonly #guarded: readonly MethodEntry[];
  readonly #written = new Map<string, ApiDocument>();

  constructor(facts: GatewayFacts) {
    this.#openapi = new OpenApiWriter(facts);
    this.#asyncapi = new AsyncApiWriter(facts);
    this.#guarded = [...facts.methods.values()].filter(({ definition }) => definition.roles !== undefined);
  }

  openapi(user: MethodContext['user']): ApiDocument {
    return this.#kept('openapi', user, () => this.#openapi.write(user));
  }

  asyncapi(user: MethodContext['user']): ApiDocument {
    return this.#kept('asyncapi', user, () => this.#asyncapi.write(user));
  }

  /** Callers that may call the same methods share one document, which is written once. */
  #kept(name: string, user: MethodContext['user'], write: () => ApiDocument): ApiDocument {
    const visible = this.#guarded.map(({ definition: { roles } }) => Number(holdsAnyRole(user, roles!)));
    const key = `${name} ${visible.join('')}`;
    const kept = this.#written.get(key);
    if (kept) return kept;
    const document = write();
    if (this.#written.size >= KEPT) this.#written.clear();
    this.#written.set(key, document);
    return document;
  }
}
