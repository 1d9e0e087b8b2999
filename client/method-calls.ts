import type {
  ApiOf,
  CallOptions,
  InvokeArgs,
  MethodItems,
  MethodTreeOf,
  PathsIn,
  ResultAt,
  StreamArgs,
  StreamOptions,
} from '../shared/method.js';
import { mayPass, type OperationCaller } from './call.js';
import type { SignalOptions } from './options.js';
import type { Retries } from './retries.js';
import { type Aborts, openScope } from './timing.js';
import { failed } from './transport/failure.js';
import type { ClientTransport } from './transport/transport.js';

/** Calls of a gateway's own methods. */
export interface TypedCalls<Tree, Options = CallOptions> {
  /** The methods as members: `api.tasks.create({ … })` is `invoke('tasks:create', { … })`. Streaming methods are called by `stream`. */
  readonly api: ApiOf<Tree, Options>;
  /** Calls a method by its colon path and waits for its result. */
  invoke<Path extends PathsIn<Tree, ''>['union']>(
    path: Path,
    ...args: InvokeArgs<Tree, Path, Options>
  ): Promise<ResultAt<Tree, Path>>;
  /**
   * Calls a streaming method when iterated, and yields each item as it arrives. Leaving the iteration cancels the call. A stream that was cut off is
   * resumed if the method gives its items ids (`tracked`).
   */
  stream<Path extends PathsIn<Tree, ''>['union']>(
    path: Path,
    ...args: StreamArgs<Tree, Path, Options & StreamOptions>
  ): MethodItems<ResultAt<Tree, Path>>;
}

/** The same for a gateway whose type is not known. */
export interface UntypedCalls<Options = CallOptions> {
  /** The methods as members: `api.tasks.create({ … })` is `invoke('tasks:create', { … })`. */
  readonly api: any;
  invoke(path: string, params?: unknown, options?: Options): Promise<unknown>;
  stream(path: string, params?: unknown, options?: Options & StreamOptions): MethodItems<unknown>;
}

/** Calls, typed as far as the gateway's type is known. */
export type MethodCalls<Source, Options = CallOptions> = unknown extends Source
  ? UntypedCalls<Options>
  : TypedCalls<MethodTreeOf<Source>, Options>;

/** The parts of a client that calls need. */
export interface CallNeeds {
  readonly call: OperationCaller;
  readonly transport: ClientTransport;
  /** Milliseconds until the first answer. */
  readonly timeoutMs: number;
  readonly aborts: Aborts;
  readonly retries: Retries;
}

/** Binds calls of methods to a session, or to the session that each call names. */
export function bindCalls(needs: CallNeeds, bound?: { readonly sessionId: string }): UntypedCalls {
  const invoke: UntypedCalls['invoke'] = (method, params, options) =>
    needs.call('invoke', { ...options, ...bound, method, params });
  return {
    api: membersOf(invoke),
    invoke,
    stream: (method, params, options) => streamMethod(needs, method, params, { ...options, ...bound }),
  };
}

/** Methods as members, at any depth: what is called is the path that led there. */
function membersOf(invoke: UntypedCalls['invoke'], path: readonly string[] = []): unknown {
  return new Proxy(() => {}, {
    // An `await` of a member looks for `then`, which would be called.
    get: (_, name) =>
      typeof name === 'string' && name !== 'then' ? membersOf(invoke, [...path, name]) : undefined,
    apply: (_target, _self, given: [unknown?, CallOptions?]) => invoke(path.join(':'), ...given),
  });
}

function streamMethod(
  needs: CallNeeds,
  method: string,
  params: unknown,
  { signal, ...call }: CallOptions & StreamOptions & SignalOptions,
): MethodItems<unknown> {
  const place: MethodPlace = { ...call, method, params };
  const items = resumed(needs, place, signal);
  return Object.defineProperty(items, 'lastEventId', { get: () => place.lastEventId }) as never;
}

interface MethodPlace extends Omit<CallOptions, 'signal'> {
  readonly method: string;
  readonly params: unknown;
  lastEventId?: string | undefined;
}

async function* resumed(
  { aborts, retries, transport, timeoutMs }: CallNeeds,
  place: MethodPlace,
  given: AbortSignal | undefined,
): AsyncGenerator<unknown, void, undefined> {
  const { signal, release } = openScope(given, aborts);
  try {
    for (let tried = 0; ; tried++) {
      try {
        if (signal.aborted) throw signal.reason;
        for await (const { data, eventId } of transport.stream(
          { ...place },
          { signal, answerMs: timeoutMs },
        )) {
          tried = 0;
          if (eventId) place.lastEventId = eventId;
          if (data !== undefined) yield data;
        }
        return;
      } catch (cause) {
        if (signal.aborted) throw signal.reason;
        const error = failed(transport, place.method, cause);
        // The token may have run out meanwhile. The failure is final only if a new token is refused as well.
        const mayGoOn = mayPass(error) || (error.code === 'UNAUTHENTICATED' && tried < 1);
        if (!place.lastEventId || !mayGoOn) throw error;
        await retries.wait(error, tried, signal);
      }
    }
  } finally {
    release();
  }
}
