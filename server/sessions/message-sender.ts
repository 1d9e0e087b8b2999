import { createHash } from 'node:crypto';
import type { UserContext } from '../../shared/contract.js';
import { formatCursor } from '../../shared/cursor.js';
import { GatewayError } from '../../shared/errors.js';
import type { OnBusy } from '../../shared/events.js';
import type { ContentBlock, Message, MessageInput, SendInput } from '../../shared/messages.js';
import type { ClientTool, RunResult } from '../../shared/operation-types.js';
import type { TraceOrigin } from '../diagnostics/messages.js';
import { newMessageId, newRunId } from '../ids.js';
import { isPromise, type MaybePromise } from '../maybe-promise.js';
import type { LogRef, Store, StoredSend } from '../stores/store.js';
import type { Session } from './session.js';

/** A message on its way to a session. */
export interface SendRequest {
  /** The last one is answered. */
  readonly inputs: readonly SendInput[];
  readonly key?: string | undefined;
  readonly onBusy?: OnBusy | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly user: UserContext | null;
  readonly clientTools?: readonly ClientTool[] | undefined;
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  /** Whose trace it belongs to. */
  readonly trace?: TraceOrigin | undefined;
  /** Who sent it, where a session is not one person's alone. */
  readonly senderId?: string | undefined;
  /** Called before a new run is accepted, not for a repeated key. @throws GatewayError to refuse it */
  admit?(): MaybePromise<void>;
}

/** A message that was accepted, now or earlier under the same key. */
export interface SentMessage {
  readonly runId: string;
  readonly message: Message;
  readonly position: number;
  readonly epoch: string;
  /** Place just before `message_accepted`. */
  readonly after: number;
  /** The same as a cursor. */
  readonly cursor: string;
  /** Whether an earlier send with this key had been accepted. */
  readonly repeated: boolean;
  readonly result: Promise<RunResult>;
}

/** Sends messages: an idempotency key starts at most one run, also when its sends come at the same time. */
export class MessageSender {
  readonly #store: Store;
  readonly #pending = new Map<string, { readonly hash: string; readonly sent: Promise<SentMessage> }>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** @throws GatewayError `IDEMPOTENCY_CONFLICT`, what `admit` throws, or what the session answers. */
  async send(session: Session, request: SendRequest): Promise<SentMessage> {
    const { key } = request;
    if (key === undefined) return this.#accept(session, request, '');
    const hash = hashOf(request);
    const { scope, app, name } = session.ref;
    const place = `${scope}\n${app}:${name}\n${key}`;
    const pending = this.#pending.get(place);
    if (pending) {
      assertSame(pending.hash, hash);
      return { ...(await pending.sent), repeated: true };
    }
    const sent = this.#once(session, request, hash);
    this.#pending.set(place, { hash, sent });
    try {
      return await sent;
    } finally {
      this.#pending.delete(place);
    }
  }

  async #once(session: Session, request: SendRequest, hash: string): Promise<SentMessage> {
    const known = await this.#store.lookup(session.ref, request.key!);
    return known ? this.#join(session, known, hash) : this.#accept(session, request, hash);
  }

  async #accept(session: Session, request: SendRequest, hash: string): Promise<SentMessage> {
    const admitted = request.admit?.();
    if (isPromise(admitted)) await admitted;
    const messages = request.inputs.map((input) => toMessage(input, request.senderId));
    const message = messages.pop()!;
    const accepted = await session.runs.accept(
      {
        runId: newRunId(),
        message,
        preceding: messages,
        ownIds: request.inputs.flatMap((input) => idOf(input) ?? []),
        onBusy: request.onBusy ?? 'queue',
        key: request.key,
        user: request.user,
        metadata: request.metadata ?? {},
        clientTools: request.clientTools ?? [],
        parameters: request.parameters ?? {},
        trace: request.trace,
      },
      hash,
    );
    if ('duplicate' in accepted) return this.#join(session, accepted.duplicate, hash);
    const { run, position, epoch, cursor } = accepted;
    return {
      runId: run.id,
      message,
      position,
      epoch,
      after: run.acceptedAfter,
      cursor,
      repeated: false,
      result: run.ended,
    };
  }

  async #join(session: Session, known: StoredSend, hash: string): Promise<SentMessage> {
    assertSame(known.hash, hash);
    const { runId, epoch, seq } = known;
    await session.hold();
    const log: LogRef = { ...session.ref, epoch };
    // A run that has left the queue has its end in the log, or on the way there.
    const run = session.runs.queue.find(runId);
    const result = run ? run.ended : this.#outcome(session, known);
    // A joined run nobody waits for must not end the process.
    result.catch(() => {});
    const [accepted] = await this.#store.read(log, seq - 1, 1, 1);
    const kept =
      accepted?.seq === seq ? (JSON.parse(accepted.body) as { message: Message; position: number }) : null;
    const message = run?.request.message ?? kept?.message ?? (await result).message;
    const place = session.log?.ref.epoch === epoch ? session.log : await session.pastLog(epoch);
    const cursor = formatCursor(epoch, place?.termAt(seq - 1) ?? 0, seq - 1);
    const position = kept?.position ?? 0;
    return { runId, message, position, epoch, after: seq - 1, cursor, repeated: true, result };
  }

  async #outcome(session: Session, known: StoredSend): Promise<RunResult> {
    await session.writer?.settled();
    const settled = known.result ? known : await this.#store.lookup(session.ref, known.key);
    return settled?.result ?? this.#find(session, known);
  }

  /** The end of a run whose outcome its key does not know, because another writer ended it. */
  async #find(session: Session, known: StoredSend): Promise<RunResult> {
    const log: LogRef = { ...session.ref, epoch: known.epoch };
    for (let after = known.seq; ; ) {
      const page = await this.#store.read(log, after, 1000, 1 << 20);
      if (page.length === 0) break;
      for (const event of page) {
        if (event.runId !== known.runId || event.type !== 'message_end') continue;
        const { message, stopReason, usage, intoRunId } = JSON.parse(event.body) as RunResult;
        const cursor = formatCursor(known.epoch, event.term, event.seq);
        const optional = { ...(usage && { usage }), ...(intoRunId !== undefined && { intoRunId }) };
        return { runId: known.runId, message, stopReason, ...optional, cursor };
      }
      after = page.at(-1)!.seq;
    }
    throw new GatewayError({ code: 'CURSOR_GONE', message: 'The outcome of this run is no longer kept' });
  }
}

function assertSame(known: string, hash: string): void {
  if (known !== hash) throw new GatewayError({ code: 'IDEMPOTENCY_CONFLICT' });
}

/** The id that a caller gave a message. */
function idOf(input: SendInput): string | undefined {
  return typeof input === 'object' && 'id' in input ? input.id : undefined;
}

/** A message as sessions keep it. Its id and time are the caller's where given. */
export function toMessage(input: SendInput, senderId?: string): Message {
  const given: MessageInput =
    typeof input === 'string' || Array.isArray(input)
      ? { content: input as string | readonly ContentBlock[] }
      : (input as MessageInput);
  const { id = newMessageId(), role = 'user', content, createdAt = Date.now(), metadata } = given;
  const blocks = typeof content === 'string' ? [{ type: 'text', text: content } as const] : content;
  return {
    id,
    role,
    content: blocks,
    createdAt,
    ...(senderId !== undefined && { senderId }),
    ...(metadata && { metadata }),
  };
}

function hashOf(request: SendRequest): string {
  const { inputs, onBusy = 'queue', metadata = {}, clientTools, parameters } = request;
  const body = JSON.stringify(canonical({ inputs, onBusy, metadata, clientTools, parameters }));
  return createHash('sha256').update(body).digest('base64url');
}

/** The same value with the keys of its objects in order, so that equal bodies hash equally. */
function canonical(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(canonical);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, item]) => [key, canonical(item)]));
}
