import type { UploadedFile } from '../../shared/files/contract.js';
import type { ResultOf, SubscribeTarget } from '../../shared/operation-types.js';
import type { RunOperation } from '../../shared/operations.js';
import type { ToolOutput } from '../apps/tool.js';
import type { MaybePromise } from '../async/maybe-promise.js';
import type { EventConnection } from '../delivery/connection.js';
import { channels } from '../diagnostics/channels.js';
import { tracedInvocation } from '../diagnostics/invocation.js';
import type { OperationMessage } from '../diagnostics/messages.js';
import { Trace, traced } from '../diagnostics/trace.js';
import type { Upload } from '../files/uploads.js';
import { newRequestId } from '../ids.js';
import type { Caller } from './caller.js';
import type { OperationEnvironment } from './environment.js';
import type { ReadableFile } from './file-operations.js';
import type { Invocation, InvokeOptions, StreamInvocation } from './invoke.js';
import { Operations, type PlainOperation, type ToolCallRequest } from './operations.js';
import type { DurableCall, Sent } from './send-operations.js';

const listening = (): boolean => channels.operation.hasSubscribers;

/** The operations that doors and plugins call. Each call is reported to listeners of the diagnostics channel. */
export class TracedOperations extends Operations {
  readonly #env: OperationEnvironment;

  constructor(env: OperationEnvironment) {
    super(env);
    this.#env = env;
  }

  // Each operation has two functions, because a function with a closure allocates even if the closure is not reached.
  override execute<Name extends PlainOperation>(
    name: Name,
    raw: unknown,
    caller: Caller,
  ): MaybePromise<ResultOf<Name>> {
    return listening() ? this.#execute(name, raw, caller) : super.execute(name, raw, caller);
  }

  #execute<Name extends PlainOperation>(
    name: Name,
    raw: unknown,
    caller: Caller,
  ): MaybePromise<ResultOf<Name>> {
    return traced(this.#trace(name, raw, caller), () => super.execute(name, raw, caller));
  }

  override start(name: RunOperation, raw: unknown, caller: Caller, behind?: string | null): Promise<Sent> {
    return listening() ? this.#start(name, raw, caller, behind) : super.start(name, raw, caller, behind);
  }

  async #start(
    name: RunOperation,
    raw: unknown,
    caller: Caller,
    behind: string | null | undefined,
  ): Promise<Sent> {
    const trace = this.#trace(name, raw, caller);
    const describe = ({ accepted, runId, repeated }: Sent): Sent['accepted'] => {
      Object.assign(trace.message, { runId, repeated });
      return accepted;
    };
    return traced(trace, () => super.start(name, raw, caller, behind), describe);
  }

  override invoke(raw: unknown, caller: Caller, options?: InvokeOptions): MaybePromise<Invocation> {
    return listening() ? this.#invoke(raw, caller, options) : super.invoke(raw, caller, options);
  }

  #invoke(raw: unknown, caller: Caller, options?: InvokeOptions): MaybePromise<Invocation> {
    return tracedInvocation(this.#trace('invoke', raw, caller), () => super.invoke(raw, caller, options));
  }

  override export(raw: unknown, caller: Caller): MaybePromise<StreamInvocation> {
    return listening() ? this.#export(raw, caller) : super.export(raw, caller);
  }

  #export(raw: unknown, caller: Caller): MaybePromise<StreamInvocation> {
    return tracedInvocation(this.#trace('export', raw, caller), () => super.export(raw, caller));
  }

  override callTool(request: ToolCallRequest, caller: Caller): MaybePromise<ToolOutput> {
    return listening() ? this.#callTool(request, caller) : super.callTool(request, caller);
  }

  #callTool(request: ToolCallRequest, caller: Caller): MaybePromise<ToolOutput> {
    return traced(this.#trace('tool-call', request, caller), () => super.callTool(request, caller));
  }

  override beginCall(call: DurableCall, caller: Caller): Promise<Sent> {
    return listening() ? this.#beginCall(call, caller) : super.beginCall(call, caller);
  }

  async #beginCall(call: DurableCall, caller: Caller): Promise<Sent> {
    return traced(this.#trace('tool-call', call, caller), () => super.beginCall(call, caller));
  }

  override upload(upload: Upload, caller: Caller): Promise<UploadedFile> {
    return listening() ? this.#upload(upload, caller) : super.upload(upload, caller);
  }

  async #upload(upload: Upload, caller: Caller): Promise<UploadedFile> {
    return traced(this.#trace('upload', null, caller), () => super.upload(upload, caller));
  }

  override file(fileId: string, caller: Caller, sessionId?: string): Promise<ReadableFile> {
    return listening() ? this.#file(fileId, caller, sessionId) : super.file(fileId, caller, sessionId);
  }

  async #file(...[fileId, caller, sessionId]: Parameters<Operations['file']>): Promise<ReadableFile> {
    return traced(this.#trace('file', { sessionId }, caller), () => super.file(fileId, caller, sessionId));
  }

  override discard(sessionId: string, caller: Caller): Promise<void> {
    return listening() ? this.#discard(sessionId, caller) : super.discard(sessionId, caller);
  }

  async #discard(sessionId: string, caller: Caller): Promise<void> {
    return traced(this.#trace('close', { sessionId }, caller), () => super.discard(sessionId, caller));
  }

  override open(
    connection: EventConnection,
    targets: readonly SubscribeTarget[],
    protocol?: number,
  ): ReturnType<Operations['open']> {
    return listening()
      ? this.#open(connection, targets, protocol)
      : super.open(connection, targets, protocol);
  }

  async #open(...given: Parameters<Operations['open']>): ReturnType<Operations['open']> {
    const [{ id, person, options }, targets] = given;
    const trace = new Trace<OperationMessage>(channels.operation, {
      gatewayId: this.#env.gatewayId,
      operation: 'events',
      transport: options.transport,
      user: person.user,
      clientId: id,
      connectionId: id,
      requestId: options.requestId ?? newRequestId(),
      sessionId: targets.length === 1 ? this.#canonical(targets[0]!.sessionId) : undefined,
    });
    return traced(trace, () => super.open(...given));
  }

  #trace(operation: OperationMessage['operation'], raw: unknown, caller: Caller): Trace<OperationMessage> {
    // The params are not checked yet.
    const { sessionId, method, runId } = (raw ?? {}) as Readonly<Record<string, unknown>>;
    const { transport, person, clientId, connectionId, traceId, parentSpan, requestId } = caller;
    return new Trace<OperationMessage>(channels.operation, {
      gatewayId: this.#env.gatewayId,
      operation,
      transport,
      user: person.user,
      clientId,
      connectionId,
      requestId,
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
      // The operation itself reports the malformed id.
      return undefined;
    }
  }
}
