import type {
  CallOptions,
  InvokeArgs,
  MethodTreeOf,
  PathsIn,
  ResultAt,
  StreamArgs,
} from '../shared/method.js';
import type { Call } from './call.js';
import type { SignalOptions } from './options.js';
import { type Aborts, openScope } from './timing.js';
import { asGatewayError } from './transport/failure.js';
import type { ClientTransport } from './transport/transport.js';

/** Calls of a gateway's own methods. */
export interface TypedCalls<Tree, Options = CallOptions> {
  /** Calls a method by its colon path and waits for its result. */
  invoke<Path extends PathsIn<Tree, ''>['union']>(
    path: Path,
    ...args: InvokeArgs<Tree, Path, Options>
  ): Promise<ResultAt<Tree, Path>>;
  /** Calls a streaming method, when iterated, and yields each item as it arrives. Leaving the iteration cancels the call. */
  stream<Path extends PathsIn<Tree, ''>['union']>(
    path: Path,
    ...args: StreamArgs<Tree, Path, Options>
  ): AsyncIterableIterator<ResultAt<Tree, Path>>;
}

/** The same for a gateway whose type is not known. */
export interface UntypedCalls<Options = CallOptions> {
  invoke(path: string, params?: unknown, options?: Options): Promise<unknown>;
  stream(path: string, params?: unknown, options?: Options): AsyncIterableIterator<unknown>;
}

/** Calls as typed as the gateway is known. */
export type MethodCalls<Source, Options = CallOptions> = unknown extends Source
  ? UntypedCalls<Options>
  : TypedCalls<MethodTreeOf<Source>, Options>;

interface CallNeeds {
  readonly call: Call;
  readonly transport: ClientTransport;
  /** Milliseconds until the first answer. */
  readonly timeoutMs: number;
  readonly aborts: Aborts;
}

/** Binds calls of methods to a session, or to the one that each call names. */
export function bindCalls(needs: CallNeeds, bound?: { readonly sessionId: string }): UntypedCalls {
  return {
    invoke: (method, params, options) => needs.call('invoke', { ...options, ...bound, method, params }),
    stream: (method, params, options) => streamMethod(needs, method, params, { ...options, ...bound }),
  };
}

async function* streamMethod(
  { aborts, transport, timeoutMs }: CallNeeds,
  method: string,
  params: unknown,
  { signal: given, sessionId }: CallOptions & SignalOptions,
): AsyncGenerator<unknown, void, undefined> {
  const { signal, release } = openScope(given, aborts);
  try {
    if (signal.aborted) throw signal.reason;
    yield* transport.stream({ method, params, sessionId }, { signal, answerMs: timeoutMs });
  } catch (error) {
    throw signal.aborted ? signal.reason : asGatewayError(error, 'The stream failed');
  } finally {
    release();
  }
}
