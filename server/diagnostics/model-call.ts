import type { UserContext } from '../../shared/contract.js';
import { GatewayError, isGatewayError } from '../../shared/errors.js';
import { channels } from './channels.js';
import type { ModelAnswer, ModelMessage } from './messages.js';
import { Trace } from './trace.js';

/** Key of the gateway's id in the session of a turn, for reports of model calls. Hosts do not see it. */
export const GATEWAY = Symbol('agent-session-gateway.gateway');

/** The turn in which a model is called. */
interface AskingTurn {
  readonly runId: string;
  readonly user: UserContext | null;
  readonly signal: AbortSignal;
  readonly session: { readonly id: string; readonly app: string; readonly epoch: string };
}

/** The called model and the settings of the call. */
export type AskedModel = Pick<ModelMessage, 'adapter' | 'provider' | 'model' | 'server' | 'settings'>;

/** An observed call of a model, from start to end. Make none while `channels.model` has no subscribers. */
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
    // Some readers of a model's stream are not told when it is dropped.
    signal.addEventListener('abort', this.#aborted, { once: true });
  }

  /** Begins the call. Requests that `work` starts belong to it. */
  during<T>(work: () => T): T {
    return this.#trace.during(work);
  }

  /** Notes the arrival of a piece of the answer. */
  delta(): void {
    this.#trace.message.firstDeltaMs ??= performance.now() - this.#beganAt;
  }

  /** Ends the call with its answer. Later ends are ignored. */
  done(answer: ModelAnswer): void {
    this.#left();
    this.#trace.done(answer);
  }

  /** Ends the call with an error, also if it was cut off. */
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
