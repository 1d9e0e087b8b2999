import type { MethodContext } from '../../shared/method.js';
import type { ApiDocument } from '../../shared/operation-types.js';
import { holdsAnyRole } from '../methods/call.js';
import type { MethodEntry } from '../methods/flatten.js';
import { AsyncApiWriter } from './asyncapi.js';
import type { GatewayFacts } from './facts.js';
import { OpenApiWriter } from './openapi.js';

/** Documents that are kept, of callers with different roles. */
const KEPT = 32;

/** The documents of a gateway: what its doors really serve, from the tables and schemas that serve it. */
export class Documents {
  readonly #openapi: OpenApiWriter;
  readonly #asyncapi: AsyncApiWriter;
  /** The methods that not everybody may call. */
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

  /** Who may call the same methods reads the same document: it is written once for all of them. */
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
