import { randomBytes } from 'node:crypto';
import { composeId, partsOfId } from '../../../shared/composed-id.js';
import type { ToolOutput } from '../../apps/tool.js';
import type { Person } from '../../auth/types.js';
import type { PluginPeers, PluginSession } from '../plugin.js';
import { RoundCalls, type RoundEnd, type RoundRequest } from './asked-calls.js';
import { callerOf, ownerOf } from './caller.js';
import type { McpLimits } from './options.js';
import type { Heard, McpQuestion } from './question.js';
import type { McpSdk, RequestStateCodec, ServerContext } from './sdk.js';

interface RoundToolCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
}

/** The state that a client carries between the two requests of a call that asks: the call's id, or the sealed state of another gateway. */
export type RequestState = { readonly callId: string } | { readonly holder: string; readonly sealed: string };

/** The outcome of a request: the tool's output, or a question with the state that the client must bring back. */
export type RoundOutcome =
  | { readonly output: ToolOutput }
  | { readonly question: McpQuestion; readonly requestState: string };

/** A request that reached another gateway than the one that runs its call. */
interface PassedRound {
  readonly sealed: string;
  readonly call: RoundToolCall;
  readonly said: Heard | undefined;
  readonly person: Person;
}

/** The longest validity of a carried state. */
const LONGEST_MS = 2 ** 31 - 1;

/** The requests of calls whose responses ask the client. It may come back to any gateway. */
export class Rounds {
  readonly #asked: RoundCalls;
  readonly #peers: PluginPeers;
  readonly #state: RequestStateCodec<{ readonly callId: string }>;
  /** Calls that were passed on to this gateway, by the carried state. */
  readonly #passed = new Map<string, AbortController>();

  constructor(sdk: McpSdk, limits: McpLimits, peers: PluginPeers) {
    this.#asked = new RoundCalls(limits);
    this.#peers = peers;
    this.#state = sdk.server.createRequestStateCodec({
      // Calls end with the process, and so may the state that was sealed for them.
      key: randomBytes(32),
      ttlSeconds: Math.ceil(Math.min(limits.answerMs, LONGEST_MS) / 1000),
      bind: ({ http }) => {
        const caller = callerOf(http?.authInfo);
        return caller ? ownerOf(caller.person) : '';
      },
    });
    peers.on('go-on', (passed: PassedRound) => this.#goOnFor(passed));
    peers.on('leave', (sealed: string) => this.#passed.get(sealed)?.abort());
  }

  /** Reads a carried state. */
  readonly verify = async (carried: string, context: ServerContext): Promise<RequestState> => {
    const [holder = this.#peers.holder, sealed = carried] = partsOfId(carried) ?? [];
    // Only the gateway that sealed a state can open it.
    return holder === this.#peers.holder ? this.#state.verify(sealed, context) : { holder, sealed };
  };

  /** The first request of a call. @throws GatewayError the reason why it was not begun */
  async begin(
    session: PluginSession,
    call: RoundToolCall,
    { context, ...round }: RoundRequest & { readonly context: ServerContext },
  ): Promise<RoundOutcome> {
    const owner = ownerOf(callerOf(context.http?.authInfo)!.person);
    return this.#told(await this.#asked.begin(session, owner, call, round), context);
  }

  /** A later request. Undefined if its call is over, or was another one. */
  async goOn(
    state: RequestState,
    call: RoundToolCall,
    {
      context,
      said,
      ...round
    }: RoundRequest & { readonly context: ServerContext; readonly said: Heard | undefined },
  ): Promise<RoundOutcome | undefined> {
    const { person } = callerOf(context.http?.authInfo)!;
    if ('holder' in state) return this.#goOnElsewhere(state.holder, { ...state, call, said, person }, round);
    const outcome = await this.#asked.goOn(state.callId, ownerOf(person), call, { ...round, said });
    return outcome && this.#told(outcome, context);
  }

  async #goOnElsewhere(
    holder: string,
    { sealed, call, said, person }: PassedRound,
    { signal }: RoundRequest,
  ): Promise<RoundOutcome | undefined> {
    const leave = (): void => void this.#peers.ask(holder, 'leave', sealed).catch(() => {});
    signal.addEventListener('abort', leave);
    try {
      const passed: PassedRound = { sealed, call, said, person };
      const done = await this.#peers.ask(holder, 'go-on', passed, { waitMs: Number.POSITIVE_INFINITY });
      return (done ?? undefined) as RoundOutcome | undefined;
    } finally {
      signal.removeEventListener('abort', leave);
    }
  }

  /** Goes on with a call that runs here, for a client that came to another gateway, which has authenticated it. */
  async #goOnFor({ sealed, call, said, person }: PassedRound): Promise<RoundOutcome | null> {
    const context = { http: { authInfo: { extra: { caller: { person } } } } } as unknown as ServerContext;
    let state: { readonly callId: string };
    try {
      state = await this.#state.verify(sealed, context);
    } catch {
      return null;
    }
    const left = new AbortController();
    this.#passed.set(sealed, left);
    try {
      return (await this.goOn(state, call, { context, said, signal: left.signal })) ?? null;
    } finally {
      this.#passed.delete(sealed);
    }
  }

  async #told(outcome: RoundEnd, context: ServerContext): Promise<RoundOutcome> {
    if ('output' in outcome) return outcome;
    const { question } = outcome;
    const sealed = await this.#state.mint({ callId: question.callId }, context);
    return { question, requestState: composeId(this.#peers.holder, sealed) };
  }

  /** Ends the calls that wait for an answer. */
  close(): void {
    this.#asked.close();
  }
}
