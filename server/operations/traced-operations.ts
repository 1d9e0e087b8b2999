import type { SubscriptionInfo } from '../../shared/events.js';
import type { ResultOf, SubscribeTarget } from '../../shared/operation-types.js';
import type { ToolOutput } from '../apps/tool.js';
import type { EventConnection } from '../delivery/connection.js';
import { channels } from '../diagnostics/channels.js';
import { tracedInvocation } from '../diagnostics/invocation.js';
import type { OperationMessage } from '../diagnostics/messages.js';
import { Trace, traced } from '../diagnostics/trace.js';
import type { MaybePromise } from '../maybe-promise.js';
import type { Caller } from './caller.js';
import type { AccessedOperation, OperationEnvironment } from './environment.js';
import type { Invocation, InvokeOptions } from './invoke.js';
import {
  Operations,
  type PlainOperation,
  type SendExtras,
  type Sent,
  type ToolCallRequest,
} from './operations.js';

/** The operations, told of to whoever listens: what every door and plugin calls. */
export class TracedOperations extends Operations {
  readonly #env: OperationEnvironment;

  constructor(env: OperationEnvironment) {
    super(env);
    this.#env = env;
  }

  override execute<Name extends PlainOperation>(
    name: Name,
    raw: unknown,
    caller: Caller,
  ): MaybePromise<ResultOf<Name>> {
    if (!channels.operation.hasSubscribers) return super.execute(name, raw, caller);
    return traced(this.#trace(name, raw, caller), () => super.execute(name, raw, caller));
  }

  override send(raw: unknown, caller: Caller, extras?: SendExtras): Promise<Sent> {
    if (!channels.operation.hasSubscribers) return super.send(raw, caller, extras);
    const trace = this.#trace('send', raw, caller);
    return traced(
      trace,
      () => super.send(raw, caller, extras),
      ({ accepted, runId, repeated }) => {
        Object.assign(trace.message, { runId, repeated });
        return accepted;
      },
    ) as Promise<Sent>;
  }

  override invoke(raw: unknown, caller: Caller, options?: InvokeOptions): MaybePromise<Invocation> {
    if (!channels.operation.hasSubscribers) return super.invoke(raw, caller, options);
    return tracedInvocation(this.#trace('invoke', raw, caller), () => super.invoke(raw, caller, options));
  }

  override callTool(request: ToolCallRequest, caller: Caller): MaybePromise<ToolOutput> {
    if (!channels.operation.hasSubscribers) return super.callTool(request, caller);
    return traced(this.#trace('tool-call', request, caller), () => super.callTool(request, caller));
  }

  override discard(sessionId: string, caller: Caller): Promise<void> {
    if (!channels.operation.hasSubscribers) return super.discard(sessionId, caller);
    const trace = this.#trace('close', { sessionId }, caller);
    return traced(trace, () => super.discard(sessionId, caller)) as Promise<void>;
  }

  override open(
    connection: EventConnection,
    targets: readonly SubscribeTarget[],
    protocol?: number,
  ): Promise<Readonly<Record<string, SubscriptionInfo>>> {
    if (!channels.operation.hasSubscribers) return super.open(connection, targets, protocol);
    const { id, identity, options } = connection;
    const sessionId = targets.length === 1 ? targets[0]!.sessionId : undefined;
    const trace = new Trace<OperationMessage>(channels.operation, {
      gatewayId: this.#env.gatewayId,
      operation: 'events',
      transport: options.transport,
      user: identity.user,
      clientId: id,
      connectionId: id,
      sessionId: this.#canonical(sessionId),
    });
    return traced(trace, () => super.open(connection, targets, protocol)) as ReturnType<Operations['open']>;
  }

  #trace(operation: AccessedOperation, raw: unknown, caller: Caller): Trace<OperationMessage> {
    // Nothing of it has been checked yet.
    const { sessionId, method, runId } = (raw ?? {}) as Readonly<Record<string, unknown>>;
    const { transport, identity, clientId, connectionId, traceId, parentSpan } = caller;
    return new Trace<OperationMessage>(channels.operation, {
      gatewayId: this.#env.gatewayId,
      operation,
      transport,
      user: identity.user,
      clientId,
      connectionId,
      trace: { traceId, parentSpan },
      sessionId: this.#canonical(sessionId),
      method: typeof method === 'string' && this.#env.methods.has(method) ? method : undefined,
      runId: operation === 'abort' && typeof runId === 'string' ? runId : undefined,
    });
  }

  #canonical(sessionId: unknown): string | undefined {
    if (typeof sessionId !== 'string') return undefined;
    const { apps } = this.#env;
    try {
      const { app, name } = apps.parse(sessionId);
      return apps.get(app) && apps.format(app, name);
    } catch {
      // The operation itself says what is wrong with it.
      return undefined;
    }
  }
}
