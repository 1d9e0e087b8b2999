import { approvalsIn } from '../../shared/ag-ui/approvals.js';
import { answersCall, type CallAnswer, toResponse } from '../../shared/asked-calls.js';
import type { GatewayEvent } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import { GatewayError, isGatewayError } from '../../shared/gateway-error.js';
import { baseOf, sameContent, versionId, versionOf } from '../../shared/ui-stream/versions.js';
import { read } from '../ai-sdk/read-run.js';
import type { Client } from '../client.js';
import { randomId } from '../random.js';
import type { Run } from '../run.js';
import type { ClientSession } from '../session.js';
import { contentOf, outputsIn, type TanStackGiven } from './given.js';
import { type Chunk, SessionChunks } from './session-chunks.js';

export type { TanStackGiven };

/** The context that TanStack AI passes with a send. */
export interface SendContext {
  readonly threadId: string;
  readonly runId: string;
  readonly resume?: readonly {
    readonly interruptId: string;
    readonly status: string;
    readonly payload?: unknown;
  }[];
}

/** A connection of TanStack AI: its `SubscribeConnectionAdapter`, with further methods. */
export interface GatewayConnection {
  /** Tells the whole session: its present content and all later runs, of any client. A drop is resumed unnoticed. */
  subscribe(signal?: AbortSignal): AsyncIterable<any>;
  /** Sends, edits, regenerates, or answers questions, by the last message. Resolves when that part of the run was told. */
  send(
    messages: readonly TanStackGiven[],
    data?: object,
    signal?: AbortSignal,
    context?: SendContext,
  ): Promise<void>;
  /** Ends the run, which stopping a page's stream does not. False if nothing runs. */
  stop(): Promise<boolean>;
}

/**
 * Makes a connection for `useChat` and `ChatClient` of TanStack AI out of a client. Its subscription tells the whole session, so it
 * includes messages of other tabs, people and programs.
 *
 * @example
 * ```ts
 * const connection = gatewayConnection(client, 'main');
 * // In a component: useChat({ connection, live: true })
 * ```
 */
export function gatewayConnection(client: Client<any>, sessionId: string): GatewayConnection {
  const session = client.session(sessionId);
  const sends = new Sends(session);
  return {
    subscribe: (signal) => sends.subscribe(signal),
    send: (messages, data, signal, context) => sends.send(messages, { data, signal, context }),
    async stop() {
      return (await session.abort()).aborted;
    },
  };
}

/** The sends of one page into a session, and the subscription that tells their events. */
class Sends {
  readonly #session: ClientSession;
  /** The page's own ids of the runs that it has begun or answered. */
  readonly #names = new Map<string, string>();
  /** Sends on their way, before their runs are known. */
  readonly #accepting = new Set<Promise<unknown>>();
  /** Messages that the page shows and that the session may not have yet. */
  readonly #unsent = new Map<string, object>();
  readonly #told = new Map<string, () => void>();

  constructor(session: ClientSession) {
    this.#session = session;
  }

  async *subscribe(signal?: AbortSignal): AsyncGenerator<Chunk> {
    const session = this.#session;
    const chunks = new SessionChunks(session.id, {
      nameOf: (runId) => this.#names.get(runId),
      unsent: (state) => this.#unsentIn(state),
    });
    const events = session.events({ from: 'snapshot', ...(signal && { signal }) });
    for await (const told of read(session, this.#named(events), chunks))
      for (const chunk of told) {
        yield chunk;
        if (chunk.type === 'RUN_FINISHED' || chunk.type === 'RUN_ERROR') this.#finished(chunk);
      }
  }

  /** Delays a run's start until this page's sends were accepted, since the run needs the page's own id. */
  async *#named(events: AsyncIterable<GatewayEvent>): AsyncGenerator<GatewayEvent> {
    for await (const event of events) {
      if (event.type === 'message_start') await Promise.allSettled(this.#accepting);
      yield event;
    }
  }

  #finished(chunk: Chunk): void {
    if ('runId' in chunk) this.#told.get(String(chunk.runId))?.();
    // An error names no run, so all runs that were being told have ended.
    else for (const told of this.#told.values()) told();
  }

  #unsentIn({ messages }: SessionState): object[] {
    // An edited message has an id of its own, which begins with the former one.
    const known = new Set(messages.map(({ id }) => baseOf(id)));
    return [...this.#unsent].filter(([id]) => !known.has(baseOf(id))).map(([, message]) => message);
  }

  async send(
    messages: readonly TanStackGiven[],
    {
      data,
      signal,
      context,
    }: {
      readonly data: object | undefined;
      readonly signal: AbortSignal | undefined;
      readonly context: SendContext | undefined;
    },
  ): Promise<void> {
    const { runId: name = randomId(), resume = [] } = context ?? {};
    const at = messages.findLastIndex(({ role }) => role === 'user');
    const answers = new Map([...outputsIn(messages.slice(at + 1)), ...approvalsIn(resume)]);
    const told = new Promise<void>((resolve) => {
      this.#told.set(name, resolve);
      signal?.addEventListener('abort', () => resolve(), { once: true });
      if (signal?.aborted) resolve();
    });
    const message = messages[at];
    try {
      const isAnswered = answers.size > 0 && (await this.#answered(answers, name));
      if (!isAnswered) {
        if (!message?.id || resume.length > 0) return;
        this.#unsent.set(message.id, message);
        await this.#begun(message as TanStackGiven & { readonly id: string }, { name, data });
      }
      await told;
    } finally {
      this.#told.delete(name);
      if (message?.id !== undefined) this.#unsent.delete(message.id);
    }
  }

  /** Hands answers over to the run that waits for them. False if none waits. */
  async #answered(answers: ReadonlyMap<string, CallAnswer>, name: string): Promise<boolean> {
    const { run, pending } = await this.#session.state();
    const open = pending.filter((question) => question.runId === run?.runId);
    const due = open.filter((question) => answersCall(answers.get(question.callId), question));
    if (!run || due.length === 0) return false;
    // The run goes on under this id.
    if (due.length === open.length) this.#names.set(run.runId, name);
    for (const { callId } of due) await this.#respond(callId, answers.get(callId)!);
    return due.length === open.length;
  }

  /** If another client was first, or the run has ended, the run's events tell it. */
  async #respond(callId: string, answer: CallAnswer): Promise<void> {
    try {
      await this.#session.respond(callId, toResponse(answer));
    } catch (error) {
      const code = isGatewayError(error) ? error.code : undefined;
      if (code !== 'ALREADY_ANSWERED' && code !== 'CALL_NOT_FOUND') throw error;
    }
  }

  async #begun(
    message: TanStackGiven & { readonly id: string },
    { name, data }: { readonly name: string; readonly data: object | undefined },
  ): Promise<void> {
    const accepting = this.#run(message, data).then(async (run) => {
      const { runId } = await run.accepted;
      this.#names.set(runId, name);
    });
    this.#accepting.add(accepting);
    try {
      await accepting;
    } finally {
      this.#accepting.delete(accepting);
    }
  }

  async #run(message: TanStackGiven & { readonly id: string }, data: object | undefined): Promise<Run> {
    const { id } = message;
    const content = contentOf(message);
    if (content.length === 0)
      throw new GatewayError({ code: 'INVALID_REQUEST', message: 'The message is empty' });
    const session = this.#session;
    const state = await session.state();
    const known = versionOf(state, id);
    const said = data &&
      Object.keys(data).length > 0 && { metadata: data as Readonly<Record<string, unknown>> };
    const metadata = said || {};
    if (!known) return session.send({ id, content }, { ...metadata });
    if (sameContent(known.content, content)) return session.regenerate(known.id, { ...metadata });
    return session.edit(known.id, { id: versionId(known.id, randomId()), content }, { ...metadata });
  }
}
