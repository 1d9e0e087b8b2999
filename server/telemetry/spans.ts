import type { Attributes, Context, Link, Span, Tracer } from '@opentelemetry/api';
import { ERROR_TABLE } from '../../shared/errors.js';
import type { ParentSpan } from '../../shared/method.js';
import { channels, type TraceChannel } from '../diagnostics/channels.js';
import type {
  AppendMessage,
  ModelMessage,
  OperationMessage,
  RunMessage,
  ToolMessage,
  TraceOutcome,
} from '../diagnostics/messages.js';
import { onOver } from '../diagnostics/on-over.js';
import { outputMessages } from './content.js';
import { CONVENTIONS, OWN } from './conventions.js';

type Api = Pick<typeof import('@opentelemetry/api'), 'context' | 'trace' | 'SpanKind' | 'SpanStatusCode'>;

/** The API, gateway and settings of spans. */
export interface SpanEnvironment {
  readonly api: Api;
  readonly tracer: Tracer;
  readonly gatewayId: string;
  /** Whether spans contain the words of people and models. */
  readonly content: boolean;
  failed(error: unknown): void;
}

/** Doors for remote callers. The operation's span is the server span of such a call. */
const SERVED: ReadonlySet<string> = new Set(['http', 'sse', 'websocket', 'unix-socket']);

const INVOKE_AGENT = CONVENTIONS.GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT;
const CHAT = CONVENTIONS.GEN_AI_OPERATION_NAME_VALUE_CHAT;
const EXECUTE_TOOL = CONVENTIONS.GEN_AI_OPERATION_NAME_VALUE_EXECUTE_TOOL;

/** Makes spans of the messages on a gateway's channels, each inside the span that its work belongs to. */
export class Spans {
  readonly #env: SpanEnvironment;
  readonly #spans = new WeakMap<object, Span>();
  /** Own spans that have ended. Work that begins in their context later is linked to them. */
  readonly #ended = new WeakSet<Span>();
  /** Contexts of active runs, as parents of appends, which have no caller's context. */
  readonly #runs = new Map<string, Context>();
  readonly #undo: (() => void)[] = [];

  constructor(env: SpanEnvironment) {
    this.#env = env;
  }

  /** Listens until `stop` is called. */
  start(): void {
    this.#trace(channels.operation, (message) => this.#operation(message), {
      over: (span, message) => this.#operationOver(span, message),
    });
    this.#trace(channels.run, (message) => this.#run(message), {
      over: (span, message) => this.#runOver(span, message),
    });
    this.#trace(channels.tool, (message) => this.#tool(message), {
      over: (span, message) => this.#toolOver(span, message),
    });
    this.#trace(channels.model, (message) => this.#model(message), {
      over: (span, message) => this.#modelOver(span, message),
    });
    this.#trace(channels.append, (message) => this.#append(message), {
      over: (span, { code }) => this.#fail(span, code),
    });
  }

  stop(): void {
    for (const undo of this.#undo.splice(0)) undo();
  }

  #trace<Message extends TraceOutcome & { readonly gatewayId: string }>(
    channel: TraceChannel<Message>,
    begin: (message: Message) => Context | null,
    { over }: { over(span: Span, message: Message): void },
  ): void {
    const { api, gatewayId, failed } = this.#env;
    const { context } = api;
    // The work runs in its span's context. The type of `bindStore` wants more than `run`, but only that is called.
    const store = { run: <R>(within: Context, work: () => R): R => context.with(within, work) };
    channel.start.bindStore(store, (message) => {
      try {
        if (message.gatewayId === gatewayId) return begin(message) ?? context.active();
      } catch (error) {
        failed(error);
      }
      return context.active();
    });
    const finish = (message: Message): void => {
      const span = this.#spans.get(message);
      if (!span) return;
      try {
        over(span, message);
        const { error } = message;
        // The text of an error comes from the host's code or a model's endpoint.
        if (error instanceof Error && this.#env.content) span.recordException(error);
      } finally {
        this.#ended.add(span);
        span.end();
      }
    };
    this.#undo.push(
      () => void channel.start.unbindStore(store),
      onOver(channel, gatewayId, { over: finish, failed }),
    );
  }

  /** Begins a span. @param parent Null for a span that begins a trace. */
  #begin(
    message: object,
    name: string,
    given: {
      readonly parent: Context | null;
      readonly attributes: Attributes;
      readonly kind?: number;
      readonly links?: Link[];
    },
  ): Context {
    const { api, tracer } = this.#env;
    const { parent, attributes, kind = api.SpanKind.INTERNAL, links = [] } = given;
    const around = parent ?? api.context.active();
    const span = tracer.startSpan(name, { kind, attributes, links, root: parent === null }, around);
    this.#spans.set(message, span);
    return api.trace.setSpan(around, span);
  }

  #operation(message: OperationMessage): Context {
    const { operation, transport, method, sessionId, requestId, runId, user, trace } = message;
    const { context, trace: tracing, SpanKind } = this.#env.api;
    const active = context.active();
    // The host's own server span is closer than the span that the caller names.
    const parent = tracing.getSpan(active) ? active : this.#remote(active, trace?.parentSpan);
    return this.#begin(message, method === undefined ? operation : `${operation} ${method}`, {
      parent,
      kind: SERVED.has(transport) ? SpanKind.SERVER : SpanKind.INTERNAL,
      attributes: attributes({
        [OWN.OPERATION]: operation,
        [OWN.TRANSPORT]: transport,
        [OWN.REQUEST_ID]: requestId,
        [OWN.SESSION_ID]: sessionId,
        [OWN.RUN_ID]: runId,
        [CONVENTIONS.ATTR_RPC_METHOD]: method,
        [CONVENTIONS.ATTR_USER_ID]: user.id,
      }),
    });
  }

  #operationOver(span: Span, { runId, repeated, code }: OperationMessage): void {
    span.setAttributes(attributes({ [OWN.RUN_ID]: runId, [OWN.REPEATED]: repeated }));
    this.#fail(span, code);
  }

  #remote(within: Context, parent: ParentSpan | undefined): Context {
    return parent ? this.#env.api.trace.setSpanContext(within, { ...parent, isRemote: true }) : within;
  }

  /**
   * Begins the span of a run. A child run's is inside the span of its parent. Any other is part of its send's trace, unless the run begins after the send
   * was answered, or in another process. Then it begins a linked trace.
   */
  #run(message: RunMessage): Context {
    const { app, sessionId, runId, parentRunId, epoch, user, requestId, resumed, queuedMs, trace } = message;
    const above = this.#runs.get(parentRunId ?? '');
    const { context, trace: tracing } = this.#env.api;
    const active = context.active();
    const sender = tracing.getSpan(active);
    const outlives = !above && (resumed || (sender !== undefined && this.#ended.has(sender)));
    const origin = sender?.spanContext() ?? (trace?.parentSpan && { ...trace.parentSpan, isRemote: true });
    const within = this.#begin(message, `${INVOKE_AGENT} ${app}`, {
      parent: above ?? (outlives ? null : sender ? active : this.#remote(active, trace?.parentSpan)),
      links: outlives && origin ? [{ context: origin }] : [],
      attributes: attributes({
        [CONVENTIONS.ATTR_GEN_AI_OPERATION_NAME]: INVOKE_AGENT,
        [CONVENTIONS.ATTR_GEN_AI_AGENT_NAME]: app,
        [CONVENTIONS.ATTR_GEN_AI_CONVERSATION_ID]: epoch,
        [CONVENTIONS.ATTR_USER_ID]: user?.id,
        [OWN.SESSION_ID]: sessionId,
        [OWN.RUN_ID]: runId,
        [OWN.PARENT_RUN_ID]: parentRunId,
        [OWN.REQUEST_ID]: requestId,
        [OWN.RESUMED]: resumed,
        [OWN.QUEUED_SECONDS]: queuedMs / 1000,
      }),
    });
    this.#runs.set(runId, within);
    return within;
  }

  #runOver(span: Span, { runId, code, result, firstDeltaMs }: RunMessage): void {
    this.#runs.delete(runId);
    const { inputTokens, outputTokens } = result?.usage ?? {};
    span.setAttributes(
      attributes({
        [OWN.STOP_REASON]: result?.stopReason,
        [CONVENTIONS.ATTR_GEN_AI_USAGE_INPUT_TOKENS]: inputTokens,
        [CONVENTIONS.ATTR_GEN_AI_USAGE_OUTPUT_TOKENS]: outputTokens,
        [CONVENTIONS.ATTR_GEN_AI_OUTPUT_MESSAGES]: this.#said(result && [result.message]),
      }),
    );
    if (firstDeltaMs !== undefined) span.addEvent('first_delta', { seconds: firstDeltaMs / 1000 });
    this.#fail(span, code);
  }

  #tool(message: ToolMessage): Context {
    const { tool, callId, app, sessionId, runId, epoch } = message;
    return this.#begin(message, `${EXECUTE_TOOL} ${tool}`, {
      parent: this.#within(runId),
      attributes: attributes({
        [CONVENTIONS.ATTR_GEN_AI_OPERATION_NAME]: EXECUTE_TOOL,
        [CONVENTIONS.ATTR_GEN_AI_TOOL_NAME]: tool,
        [CONVENTIONS.ATTR_GEN_AI_TOOL_CALL_ID]: callId,
        [CONVENTIONS.ATTR_GEN_AI_AGENT_NAME]: app,
        [CONVENTIONS.ATTR_GEN_AI_CONVERSATION_ID]: epoch,
        [OWN.SESSION_ID]: sessionId,
        [OWN.RUN_ID]: runId,
      }),
    });
  }

  /** The present context, or the run's if the app has left it, for example in a callback. */
  #within(runId: string | undefined): Context {
    const { context, trace: tracing } = this.#env.api;
    const active = context.active();
    const run = runId === undefined ? undefined : this.#runs.get(runId);
    return tracing.getSpan(active) ? active : (run ?? active);
  }

  #toolOver(span: Span, { code, result }: ToolMessage): void {
    span.setAttributes(attributes({ [CONVENTIONS.ATTR_GEN_AI_TOOL_CALL_RESULT]: this.#said(result) }));
    this.#fail(span, code);
  }

  #model(message: ModelMessage): Context {
    const { provider, model, server, settings, app, sessionId, runId, epoch } = message;
    return this.#begin(message, model === undefined ? CHAT : `${CHAT} ${model}`, {
      parent: this.#within(runId),
      kind: this.#env.api.SpanKind.CLIENT,
      attributes: attributes({
        [CONVENTIONS.ATTR_GEN_AI_OPERATION_NAME]: CHAT,
        [CONVENTIONS.ATTR_GEN_AI_PROVIDER_NAME]: provider,
        [CONVENTIONS.ATTR_GEN_AI_REQUEST_MODEL]: model,
        [CONVENTIONS.ATTR_GEN_AI_REQUEST_TEMPERATURE]: settings.temperature,
        [CONVENTIONS.ATTR_GEN_AI_REQUEST_TOP_P]: settings.topP,
        [CONVENTIONS.ATTR_GEN_AI_REQUEST_MAX_TOKENS]: settings.maxTokens,
        [CONVENTIONS.ATTR_SERVER_ADDRESS]: server?.address,
        [CONVENTIONS.ATTR_SERVER_PORT]: server?.port,
        [CONVENTIONS.ATTR_GEN_AI_AGENT_NAME]: app,
        [CONVENTIONS.ATTR_GEN_AI_CONVERSATION_ID]: epoch,
        [OWN.SESSION_ID]: sessionId,
        [OWN.RUN_ID]: runId,
      }),
    });
  }

  #modelOver(span: Span, { code, result, firstDeltaMs, model: asked }: ModelMessage): void {
    const { id, model, finishReasons = [], usage, content = [] } = result ?? {};
    // The Agents SDK does not reveal the name of a model that it is given as an object.
    if (asked === undefined && model !== undefined) span.updateName(`${CHAT} ${model}`);
    if (finishReasons.length > 0)
      span.setAttribute(CONVENTIONS.ATTR_GEN_AI_RESPONSE_FINISH_REASONS, [...finishReasons]);
    span.setAttributes(
      attributes({
        [CONVENTIONS.ATTR_GEN_AI_RESPONSE_ID]: id,
        [CONVENTIONS.ATTR_GEN_AI_RESPONSE_MODEL]: model,
        [CONVENTIONS.ATTR_GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK]:
          firstDeltaMs === undefined ? undefined : firstDeltaMs / 1000,
        [CONVENTIONS.ATTR_GEN_AI_USAGE_INPUT_TOKENS]: usage?.inputTokens,
        [CONVENTIONS.ATTR_GEN_AI_USAGE_OUTPUT_TOKENS]: usage?.outputTokens,
        [CONVENTIONS.ATTR_GEN_AI_OUTPUT_MESSAGES]: this.#said(
          result && outputMessages(content, finishReasons),
        ),
      }),
    );
    this.#fail(span, code);
  }

  /** Begins the span of a run's append. Other appends belong to no trace. */
  #append(message: AppendMessage): Context | null {
    const { runId, events, bytes, epoch } = message;
    const parent = runId === undefined ? undefined : this.#runs.get(runId);
    if (!parent) return null;
    return this.#begin(message, 'store append', {
      parent,
      kind: this.#env.api.SpanKind.CLIENT,
      attributes: attributes({
        [OWN.EVENTS]: events,
        [OWN.BYTES]: bytes,
        [CONVENTIONS.ATTR_GEN_AI_CONVERSATION_ID]: epoch,
      }),
    });
  }

  #said(value: unknown): string | undefined {
    return this.#env.content && value !== undefined ? JSON.stringify(value) : undefined;
  }

  /** Sets the error code. A mistake of the caller does not mark the span as failed. */
  #fail(span: Span, code: string | undefined): void {
    if (code === undefined) return;
    span.setAttribute(CONVENTIONS.ATTR_ERROR_TYPE, code);
    const { status = 500 } =
      (ERROR_TABLE as Readonly<Record<string, { readonly status: number }>>)[code] ?? {};
    if (status >= 500) span.setStatus({ code: this.#env.api.SpanStatusCode.ERROR, message: code });
  }
}

/** The attributes that have a value. */
function attributes(given: Readonly<Record<string, string | number | boolean | undefined>>): Attributes {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}
