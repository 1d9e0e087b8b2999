import type { ClientTransport, Link, LinkHandlers } from '../../../shared/client-transport.js';
import type { StreamItem } from '../../../shared/frames.js';
import type { SubscribeTarget } from '../../../shared/operation-types.js';
import type { OperationName } from '../../../shared/operations.js';
import { beginsRun } from '../../../shared/operations.js';
import type { Person } from '../../auth/types.js';
import { newConnectionId, newRequestId, newTraceId } from '../../ids.js';
import type { Caller } from '../../operations/caller.js';
import type { PlainOperation } from '../../operations/operations.js';
import { checkKeys, historyDepth } from '../../schema/parse-json.js';
import { publicError } from '../public-error.js';
import { type InProcessEnvironment, InProcessLink } from './in-process-link.js';
import { wireValue } from './wire-value.js';

/** Reaches the gateway of an environment as one user. */
export function inProcessTransport(env: InProcessEnvironment, person: Person): ClientTransport {
  return new InProcessTransport(env, person);
}

class InProcessTransport implements ClientTransport {
  readonly name = 'in-process';
  readonly #env: InProcessEnvironment;
  readonly #person: Person;
  readonly #links = new Set<Link>();

  constructor(env: InProcessEnvironment, person: Person) {
    this.#env = env;
    this.#person = person;
  }

  async request(operation: OperationName, params: unknown, { signal }: { readonly signal: AbortSignal }) {
    signal.throwIfAborted();
    const gone = new Promise<never>((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
    return Promise.race([this.#perform(operation, params, signal), gone]);
  }

  async *stream(params: unknown, { signal }: { readonly signal: AbortSignal }): AsyncGenerator<StreamItem> {
    try {
      await this.#env.ready();
      const given = this.#travel('invoke', params);
      const outcome = await this.#env.operations.invoke(given, this.#caller(signal), { expects: 'stream' });
      if (outcome.kind !== 'stream') return;
      for await (const item of outcome.stream)
        yield 'data' in item ? { ...item, data: wireValue(item.data) ?? null } : item;
    } catch (error) {
      throw publicError(error, this.#env.report);
    }
  }

  open(targets: readonly SubscribeTarget[], handlers: LinkHandlers): Link {
    const link = new InProcessLink(this.#env, this.#person, {
      targets,
      handlers: {
        onEvent: handlers.onEvent,
        onClose: (end) => {
          this.#links.delete(link);
          handlers.onClose(end);
        },
      },
    });
    this.#links.add(link);
    return link;
  }

  close(): void {
    for (const link of [...this.#links]) link.close();
  }

  async #perform(operation: OperationName, params: unknown, signal: AbortSignal): Promise<unknown> {
    const { operations } = this.#env;
    const caller = this.#caller(signal);
    try {
      await this.#env.ready();
      const given = this.#travel(operation, params);
      if (beginsRun(operation)) return wireValue((await operations.start(operation, given, caller)).accepted);
      if (operation !== 'invoke') {
        return wireValue(await operations.execute(operation as PlainOperation, given, caller));
      }
      const outcome = await operations.invoke(given, caller, { expects: 'value' });
      return outcome.kind === 'value' ? wireValue(await outcome.value) : undefined;
    } catch (error) {
      throw publicError(error, this.#env.report);
    }
  }

  /** Converts params to the form in which another process would have sent them. */
  #travel(operation: OperationName, params: unknown): unknown {
    const value = wireValue(params);
    const { jsonDepth } = this.#env.config.limits;
    checkKeys(value, operation === 'import' ? historyDepth(jsonDepth) : jsonDepth);
    return value;
  }

  #caller(signal: AbortSignal): Caller {
    return {
      person: this.#person,
      transport: this.name,
      clientId: newConnectionId(),
      traceId: newTraceId(),
      requestId: newRequestId(),
      signal,
    };
  }
}
