import type { UserContext } from '../../shared/contract.js';
import { GatewayError, isGatewayError } from '../../shared/errors.js';
import { channels } from './channels.js';
import type { ModelAnswer, ModelMessage } from './messages.js';
import { Trace } from './trace.js';

/** Where the session of a turn has the id of its gateway, for those who tell of calls of models. Hosts see none of it. */
export const GATEWAY = Symbol('agent-session-gateway.gateway');

/** The turn in which a model is asked. */
interface AskingTurn {
  readonly runId: string;
  readonly user: UserContext | null;
  readonly signal: AbortSignal;
  readonly session: { readonly id: string; readonly app: string; readonly epoch: string };
}

/** Which model is asked, and how. */
export type AskedModel = Pick<ModelMessage, 'adapter' | 'provider' | 'model' | 'server' | 'settings'>;

/** A call of a model that somebody hears of, from its start to its end: make none while `channels.model` has no subscribers. */
export class ModelCall {
  readonly #trace: Trace<ModelMessage>;
  readonly #signal: AbortSignal;
  readonly #beganAt = performance.now();

  constructor({ runId, user, signal, session }: AskingTurn, asked: AskedModel) {
    const { id: sessionId, app, epoch } = session;
    const gatewayId = (session as { readonly [GATEWAY]?: string })[GATEWAY] ?? '';
    this.#trace = new Trace<ModelMessage>(channels.model, {
      ...{ gatewayId, sessionId, app, epoch, runId, user },
      ...asked,
    });
    this.#signal = signal;
    // Not all that reads a model's stream is told when it is let go of.
    signal.addEventListener('abort', this.#aborted, { once: true });
  }

  /** Begins it: what the work starts, such as the request, belongs to it. */
  during<T>(work: () => T): T {
    return this.#trace.during(work);
  }

  /** Something of the answer has come. */
  delta(): void {
    this.#trace.message.firstDeltaMs ??= performance.now() - this.#beganAt;
  }

  /** It has answered. Ends once: what comes later is not told. */
  done(answer: ModelAnswer): void {
    this.#left();
    this.#trace.done(answer);
  }

  /** It has failed, or was cut off. */
  fail(error: unknown): void {
    if (this.#signal.aborted) return this.#aborted();
    this.#left();
    this.#trace.fail(error, isGatewayError(error) ? error.code : 'UPSTREAM_FAILED');
  }

  readonly #aborted = (): void => {
    this.#left();
    this.#trace.fail(
      new GatewayError({ code: 'ABORTED', message: 'The run ended before the model had answered' }),
    );
  };

  #left(): void {
    this.#signal.removeEventListener('abort', this.#aborted);
  }
}
