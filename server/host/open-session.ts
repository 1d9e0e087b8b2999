import { isGatewayError } from '../../shared/errors.js';
import type { GatewayEvent } from '../../shared/events.js';
import type { FeatureHandle } from '../../shared/features.js';
import type { SendInput } from '../../shared/messages.js';
import type { ExportedKind, From, RunResult } from '../../shared/operation-types.js';
import { eventType } from '../apps/publish-options.js';
import type {
  HostChannel,
  HostEventsOptions,
  HostFollowedRun,
  HostRegenerateOptions,
  HostRun,
  HostSendOptions,
  SessionHandle,
} from '../apps/session-handle.js';
import type { Person } from '../auth/types.js';
import type { Connections } from '../delivery/connections.js';
import { newConnectionId, newRequestId, newTraceId } from '../ids.js';
import { currentContext } from '../methods/context.js';
import type { Caller } from '../operations/caller.js';
import type { FeatureParts, HandleCall, HandleHostCall } from '../operations/feature.js';
import type { Operations } from '../operations/operations.js';
import type { FollowableRun, Sent } from '../operations/send-operations.js';
import { readEvents } from './event-reader.js';

/** The parts of a gateway that host code's sessions use. */
export interface HostEnvironment {
  readonly operations: Operations;
  readonly connections: Connections;
  readonly heartbeatMs: number;
  readonly features: readonly FeatureParts[];
  /** Opens the store on first use; null once it is open. */
  ready(): Promise<void> | null;
}

/** The caller of operations for code of this process. */
export function hostCaller(
  person: Person,
  {
    transport = 'host',
    signal,
    trusted = true,
  }: Partial<Pick<Caller, 'transport' | 'signal' | 'trusted'>> = {},
): Caller {
  return new HostCaller({ person, transport, signal, trusted });
}

class HostCaller implements Caller {
  readonly person: Person;
  readonly transport: string;
  readonly clientId = newConnectionId();
  readonly traceId: string;
  readonly requestId: string;
  readonly parentSpan: Caller['parentSpan'];
  readonly trusted: boolean;
  #signal: AbortSignal | undefined;

  constructor(
    given: Pick<Caller, 'person' | 'transport'> & { signal: AbortSignal | undefined; trusted: boolean },
  ) {
    this.person = given.person;
    this.transport = given.transport;
    this.trusted = given.trusted;
    this.#signal = given.signal;
    // Inside a call, the operation belongs to the caller's trace.
    const { traceId = newTraceId(), requestId = newRequestId(), parentSpan } = currentContext() ?? {};
    this.traceId = traceId;
    this.requestId = requestId;
    this.parentSpan = parentSpan;
  }

  // Made on first use: most calls never read it, and Node makes one slowly.
  get signal(): AbortSignal {
    this.#signal ??= new AbortController().signal;
    return this.#signal;
  }
}

/** The values of `from` other than cursors. */
const WORDS: ReadonlySet<string> = new Set<From>(['now', 'run', 'earliest', 'snapshot']);

/** The start of reading in the form of an operation's parameters. */
export function startOf(from: HostEventsOptions['from']): { readonly from?: From; readonly cursor?: string } {
  if (from === undefined) return {};
  return WORDS.has(from) ? { from: from as From } : { cursor: from };
}

/** The parameters of an operation on a session. The session's id overrides that of the host's objects. */
function paramsOf(sessionId: string, ...given: readonly object[]): object {
  return Object.assign({}, ...given, { sessionId });
}

/** A session for host code, in the scope of its caller. Calls the operations of the table in this process. */
export function openSession(env: HostEnvironment, id: string, caller: Caller): SessionHandle {
  const { operations } = env;
  const { person } = caller;
  const execute: HandleCall = async (name, params = {}) => {
    await env.ready();
    return operations.execute(name, paramsOf(id, params), caller);
  };
  const hostCall: HandleHostCall = async (name, params) => {
    await env.ready();
    return operations.forHost(name, { ...params, sessionId: id } as never, caller);
  };
  const send = async (input: SendInput, options: HostSendOptions = {}): Promise<Sent> => {
    const { preceding = [], behind, ...params } = options;
    const message = preceding.length > 0 ? { messages: [...preceding, input] } : { message: input };
    await env.ready();
    return operations.start('send', paramsOf(id, params, message), caller, behind);
  };
  const regenerate = async (options: HostRegenerateOptions = {}): Promise<Sent> => {
    await env.ready();
    return operations.start('regenerate', paramsOf(id, options), caller);
  };
  const follow = async (runId: string): Promise<FollowableRun> => {
    await env.ready();
    return operations.follow({ runId, sessionId: id }, caller);
  };
  async function* exported(what: ExportedKind | undefined): AsyncGenerator<unknown> {
    await env.ready();
    const { stream } = await operations.export({ sessionId: id, what }, caller);
    for await (const { data } of stream) yield data;
  }
  const events = (options: HostEventsOptions = {}): AsyncIterable<GatewayEvent> => {
    const { from, signal } = options;
    return readEvents(env, person, { signal }, async (connection) => {
      await env.ready();
      await operations.open(connection, [{ sessionId: id, ...startOf(from) }]);
    });
  };
  const own: Omit<SessionHandle, keyof FeatureHandle> = {
    id,
    send: (input, options) => startRun(env, caller, send(input, options)),
    regenerate: (options) => startRun(env, caller, regenerate(options)),
    move: (to) => execute('move', typeof to === 'object' && to ? { version: to.version } : { tip: to }),
    fork: (to, options) => execute('fork', { to, ...options }),
    append: (messages) => execute('append', { messages }),
    run: (runId) => followRun(env, caller, follow(runId)),
    events,
    async history(options) {
      try {
        return await execute('history', options);
      } catch (error) {
        if (isGatewayError(error) && error.code === 'SESSION_NOT_FOUND')
          return { messages: [], cursor: null, hasMore: false };
        throw error;
      }
    },
    status: async () => (await execute('status')) as Awaited<ReturnType<SessionHandle['status']>>,
    abort: async (options) => (await execute('abort', options)).aborted,
    async respond(callId, answer) {
      await execute('tool-response', { ...answer, callId });
    },
    async update(changes) {
      await execute('update', changes);
    },
    share: (grant) => execute('share', grant),
    async unshare(grantId) {
      await execute('unshare', { grantId });
    },
    grants: async () => (await execute('grants')).grants,
    async close() {
      await execute('close');
    },
    async delete() {
      await execute('delete');
    },
    export: (what?: ExportedKind) => exported(what) as AsyncIterable<never>,
    async import(messages, options) {
      const { tip, cursor } = await execute('import', { ...options, messages });
      return { tip, cursor };
    },
    channel: (name) =>
      channel(name, events, async (payload, options) => {
        await execute('channel', { channel: name, type: eventType(options), payload });
      }) as HostChannel<any>,
  };
  return Object.assign(
    own,
    ...env.features.map(({ handle }) => handle?.(execute, hostCall)),
  ) as SessionHandle;
}

function startRun(env: HostEnvironment, caller: Caller, sending: Promise<Sent>): HostRun {
  const accepted = sending.then((sent) => sent.accepted);
  // Starting a run without awaiting it must not cause an unhandled rejection.
  accepted.catch(() => {});
  return { accepted, ...followRun(env, caller, sending) };
}

function followRun(env: HostEnvironment, caller: Caller, following: Promise<FollowableRun>): HostFollowedRun {
  const result = following.then((run): Promise<RunResult> => run.result);
  result.catch(() => {});
  async function* events(from?: string): AsyncIterable<GatewayEvent> {
    const { session, runId, cursor, result } = await following;
    yield* readEvents(env, caller.person, {}, (connection, ended) =>
      connection.followRun(session, from ?? cursor, { runId, result, ended }),
    );
  }
  const named = async () => {
    const { runId, session } = await following;
    return { runId, sessionId: session.id };
  };
  return {
    result,
    events,
    async status() {
      return env.operations.execute('run', await named(), caller);
    },
    async abort(reason) {
      return (await env.operations.execute('abort', { ...(await named()), reason }, caller)).aborted;
    },
    [Symbol.asyncIterator]: () => events()[Symbol.asyncIterator](),
  };
}

function channel(
  name: string,
  events: (options: HostEventsOptions) => AsyncIterable<GatewayEvent>,
  publish: HostChannel['publish'],
): HostChannel {
  return {
    publish,
    async *[Symbol.asyncIterator]() {
      for await (const event of events({ from: 'now' })) {
        if (event.type === 'gap') yield { type: 'gap', gap: event };
        else if (event.type === 'channel' && event.channel === name) yield event.event;
      }
    },
  };
}
