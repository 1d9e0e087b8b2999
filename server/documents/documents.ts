import type { MethodContext } from '../../shared/method.js';
import type { ApiDocument } from '../../shared/operation-types.js';
import { holdsAnyRole } from '../methods/call.js';
import type { MethodEntry } from '../methods/flatten.js';
import type { GatewayFacts } from './facts.js';
import { OpenApiWriter } from './openapi.js';

/** Documents kept at most, one for each set of visible methods. */
const KEPT = 32;

/** The document of a gateway, written from the same tables and schemas that its doors use. */
export class Documents {
  readonly #openapi: OpenApiWriter;
  /** The methods that need a role. */
  readonly #guarded: readonly MethodEntry[];
  readonly #written = new Map<string, ApiDocument>();

  constructor(facts: GatewayFacts) {
    this.#openapi = new OpenApiWriter(facts);
    this.#guarded = [...facts.methods.values()].filter(({ definition }) => definition.roles !== undefined);
  }

  /** Callers that may call the same methods share one document, which is written once. */
  openapi(user: MethodContext['user']): ApiDocument {
    const visible = this.#guarded.map(({ definition: { roles } }) => Number(holdsAnyRole(user, roles!)));
    const key = visible.join('');
    const kept = this.#written.get(key);
    if (kept) return kept;
    const document = this.#openapi.write(user);
    if (this.#written.size >= KEPT) this.#written.clear();
    this.#written.set(key, document);
    return document;
  }
}
