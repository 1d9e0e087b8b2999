import type { UserContext } from '../../shared/contract.js';
import { GatewayError } from '../../shared/errors.js';
import type { OnBusy } from '../../shared/events.js';
import { mapPacked } from '../../shared/map-packed.js';
import { type Message, type SendInput, withoutPlace } from '../../shared/messages.js';
import type { Accepted, ClientTool, GivenOutput, RunResult } from '../../shared/operation-types.js';
import type { Deadlines } from '../async/deadlines.js';
import { isPromise, type MaybePromise } from '../async/maybe-promise.js';
import type { TraceOrigin } from '../diagnostics/messages.js';
import type { GatewayFiles } from '../files/files.js';
import { judgeMessage, judgeValue, moderated } from '../guard/guards.js';
import type { GuardPolicy } from '../guard/policy.js';
import type { AcceptedRun } from '../held/acceptance.js';
import type { AppendedMessages } from '../held/appending.js';
import type { Place } from '../held/moves.js';
import { newRequestId, newRunId } from '../ids.js';
import { unanswered } from '../log/unavailable.js';
import { hashOfJson } from '../runs/canonical-json.js';
import type { AloneCall } from '../runs/live-run.js';
import { toMessage } from '../runs/to-message.js';
import type { Store } from '../stores/store.js';
import type { RunRecord } from '../stores/stored.js';
import { messageOf, originOf } from './find-run.js';
import { perform } from './routing.js';
import type { Session } from './session.js';

/** Messages that are checked at the same time. */
const AT_ONCE = 16;

/** A message on its way to a session. */
export interface SendRequest {
  /** The messages to add. The app answers the last one. Empty if a message of the conversation is answered again. */
  readonly inputs: readonly SendInput[];
  /** The place of the messages, if it is not behind the last message. */
  readonly place?: Place | undefined;
  /** Id of the message that must be the last one (see `lastMessage`). @default any */
  readonly behind?: string | null | undefined;
  /** Id of the message that is answered again, or of an answer to it; `null` for the last one. */
  readonly again?: string | null | undefined;
  /** The message begins a run in a lane of its own. */
  readonly beside?: { readonly keep: boolean; readonly calls?: AloneCall } | undefined;
  readonly key?: string | undefined;
  /** The grant by which the sender reaches the session; absent for an owner. */
  readonly via?: string | undefined;
  /** Id of the person who gave the link by which a guest sends; absent for a user. */
  readonly givenBy?: string | undefined;
  /** Key of the person who sends, and so has read the conversation. */
  readonly reader: string;
  readonly onBusy?: OnBusy | undefined;
  readonly metadata?: Readonly<Record<string, unknown>> | undefined;
  readonly user: UserContext;
  readonly clientTools?: readonly ClientTool[] | undefined;
  readonly parameters?: Readonly<Record<string, unknown>> | undefined;
  readonly toolOutputs?: readonly GivenOutput[] | undefined;
  /** The caller's trace. */
  readonly trace?: TraceOrigin | undefined;
  /** Id of the request that brought the message. */
  readonly requestId?: string | undefined;
  /** Id of the sender, if the session is shared between people. */
  readonly senderId?: string | undefined;
  /** Called before a new run is accepted, but not for a repeated key. @throws GatewayError to refuse the message */
  admit?(): MaybePromise<void>;
}

interface Keyed {
  readonly key: string;
  readonly hash: string;
}

/** A message that was accepted, now or earlier under the same key. */
export interface SentMessage extends Accepted {
  /** Whether an earlier send with this key was accepted. */
  readonly repeated: boolean;
  readonly result: Promise<RunResult>;
}

/** Sends messages. An idempotency key starts at most one run, also if its sends arrive at the same time. */
export class MessageSender {
  readonly #store: Store;
  readonly #files: GatewayFiles;
  readonly #deadlines: Deadlines;
  readonly #guardOf: (app: string) => GuardPolicy | null;

  constructor(
    store: Store,
    files: GatewayFiles,
    deadlines: Deadlines,
    guardOf: (app: string) => GuardPolicy | null,
  ) {
    this.#guardOf = guardOf;
    this.#store = store;
    this.#files = files;
    this.#deadlines = deadlines;
  }

  /**
   * @throws GatewayError `IDEMPOTENCY_CONFLICT`, errors of `admit` and of the session; `OVERLOADED` with an unknown outcome if the work
   * takes longer than the time limit of the store
   */
  send(session: Session, request: SendRequest): Promise<SentMessage> {
    return this.#deadlines.bound(this.#send(session, request), unanswered);
  }

  async #send(session: Session, request: SendRequest): Promise<SentMessage> {
    const { key } = request;
    if (key === undefined) return this.#accept(session, request);
    const hash = hashOf(request);
    const known = await this.#store.run(session.ref, { key });
    return known ? this.#join(session, known, hash) : this.#accept(session, request, { key, hash });
  }

  async #accept(session: Session, request: SendRequest, keyed?: Keyed): Promise<SentMessage> {
    const admitted = request.admit?.();
    if (isPromise(admitted)) await admitted;
    const said = mapPacked(request.inputs, (input) => toMessage(input, request.senderId));
    const checked = this.checked(session.ref.app, said, request.user);
    const written = isPromise(checked) ? await checked : checked;
    const runId = newRunId();
    const naming = this.#files.name(session.ref, runId, written);
    const named = naming && (await naming);
    // Begin to wait before the run is accepted: it may end at once.
    const result = session.results.of(runId);
    try {
      const messages = named?.messages ?? written;
      const accepted = await this.#perform(session, request, { runId, messages, ...keyed });
      if (!('duplicate' in accepted)) {
        session.results.accepted(runId);
        named?.accepted(accepted.cursor);
        return { runId, repeated: false, result, ...accepted };
      }
      named?.withdrawn();
      session.results.forget(runId);
      return this.#join(session, accepted.duplicate, keyed!.hash);
    } catch (error) {
      session.results.forget(runId);
      throw error;
    }
  }

  /** Adds messages that begin no run. @throws GatewayError errors of the session */
  append(
    session: Session,
    {
      inputs,
      user,
      senderId,
      reader,
      via,
    }: Pick<SendRequest, 'inputs' | 'user' | 'senderId' | 'reader' | 'via'>,
  ): Promise<AppendedMessages> {
    const add = async (): Promise<AppendedMessages> => {
      const said = inputs.map((input) => toMessage(input, senderId));
      const written = await this.checked(session.ref.app, said, user);
      const named = await this.#files.name(session.ref, newRequestId(), written);
      const { messages } = named ?? { messages: written };
      try {
        const added = await perform(session, { type: 'append', messages, by: user.id, reader, via });
        named?.accepted(added.cursor);
        return added;
      } catch (error) {
        named?.withdrawn();
        throw error;
      }
    };
    return this.#deadlines.bound(add(), unanswered);
  }

  /** Messages of a person, as the guards of an app let them through. @throws GatewayError `MODERATED` */
  checked(app: string, messages: readonly Message[], user: UserContext): MaybePromise<readonly Message[]> {
    const guard = this.#guardOf(app);
    if (!guard?.guards('message')) return messages;
    return this.#judged(guard, messages, user);
  }

  /** A conversation that is imported may have thousands: some at a time. */
  async #judged(guard: GuardPolicy, messages: readonly Message[], user: UserContext): Promise<Message[]> {
    const said: Message[] = [];
    while (said.length < messages.length) {
      const some = messages.slice(said.length, said.length + AT_ONCE);
      said.push(...(await Promise.all(some.map((message) => judgeMessage(guard, message, user)))));
    }
    return said;
  }

  /** A person's answer to a question, or what they publish, as the guards of an app let it through. @throws GatewayError `MODERATED` */
  checkedAnswer<Answer extends object>(app: string, answer: Answer, user: UserContext): MaybePromise<Answer> {
    const guard = this.#guardOf(app);
    if (!guard?.guards('message')) return answer;
    return judgeValue(guard, answer, { kind: 'message', run: null, user }).then((judged) => {
      if ('end' in judged) throw moderated(judged.end);
      return judged.value as Answer;
    });
  }

  async #perform(
    session: Session,
    request: SendRequest,
    begun: { readonly runId: string; readonly messages: readonly Message[] } & Partial<Keyed>,
  ): Promise<AcceptedRun & { readonly message: Message }> {
    const { onBusy = 'queue', user, metadata = {}, clientTools = [], parameters = {} } = request;
    const { trace, requestId, givenBy, reader, via, toolOutputs } = request;
    const grant = via === undefined ? undefined : { id: via, givenBy };
    const sender = { user, grant, reader, ...(toolOutputs && { toolOutputs }) };
    const { runId, messages, key, hash } = begun;
    const by = user.id;
    const { again, place, behind } = request;
    if (again !== undefined) {
      const given = { runId, key, hash, ...sender, metadata, clientTools, parameters, trace, requestId };
      return perform(session, { type: 'regenerate', request: given, messageId: again ?? undefined, by, via });
    }
    const preceding = [...messages];
    const message = preceding.pop()!;
    const ownIds = request.inputs.flatMap((input) => idOf(input) ?? []);
    const { beside } = request;
    const lane = beside && {
      ...{ app: session.ref.app, depth: 0 },
      ...(!beside.keep && { keep: false as const }),
      ...(beside.calls && { calls: beside.calls }),
    };
    const asked = { message, preceding, ownIds, onBusy, runId, key, hash, ...(lane && { lane }) };
    const accepted = await perform(session, {
      type: 'accept',
      request: { metadata, clientTools, parameters, trace, requestId, ...sender, ...asked },
      at: place && { by, ...place },
      behind,
      via,
    });
    return { message, ...accepted };
  }

  async #join(session: Session, known: RunRecord, hash: string): Promise<SentMessage> {
    assertSame(known.hash!, hash);
    const { runId } = known;
    // The run may be active at another gateway. Looking at the session does not take it from there.
    if (!known.result) await session.look();
    const result = session.results.ofStored(known);
    // The caller need not wait for the result.
    result.catch(() => {});
    const origin = await originOf(this.#store, session, known);
    const { position, cursor } = origin;
    const kept = origin.message ?? (await messageOf(session, known));
    return {
      runId,
      message: kept ? withoutPlace(kept) : (await result).message,
      position,
      cursor,
      repeated: true,
      result,
    };
  }
}

function assertSame(known: string, hash: string): void {
  if (known !== hash) throw new GatewayError({ code: 'IDEMPOTENCY_CONFLICT' });
}

/** The id that the caller gave a message. */
function idOf(input: SendInput): string | undefined {
  return typeof input === 'object' && 'id' in input ? input.id : undefined;
}

function hashOf(request: SendRequest): string {
  const { inputs, onBusy = 'queue', metadata = {}, clientTools, parameters, toolOutputs } = request;
  const { place, again, beside } = request;
  return hashOfJson({ inputs, onBusy, metadata, clientTools, parameters, toolOutputs, place, again, beside });
}
