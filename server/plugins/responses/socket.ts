import { type GatewayError, isGatewayError } from '../../../shared/errors.js';
import type { PluginSocketListener, PluginUpgrade } from '../../transports/websocket/plugin-upgrade.js';
import { fieldError } from '../conversation/errors.js';
import { toChatError } from '../openai/errors.js';
import type { ResponseRoutes } from './routes.js';

/** The number of requests that a socket takes before the first of them is answered. */
const MOST_WAITING = 8;

/** A client on a WebSocket, which creates one response after another. */
export class ResponseSocket implements PluginSocketListener {
  readonly #routes: ResponseRoutes;
  readonly #upgrade: PluginUpgrade;
  readonly #inTerms: (error: GatewayError) => GatewayError;
  /** The answers so far, one after another. */
  #turns: Promise<void> = Promise.resolve();
  #waiting = 0;

  /** @param inTerms Says an error in the names that the client has for its fields */
  constructor(
    routes: ResponseRoutes,
    upgrade: PluginUpgrade,
    inTerms: (error: GatewayError) => GatewayError,
  ) {
    this.#routes = routes;
    this.#upgrade = upgrade;
    this.#inTerms = inTerms;
  }

  message(text: string): Promise<void> | undefined {
    const { socket } = this.#upgrade;
    this.#waiting += 1;
    this.#turns = this.#turns
      .then(() => (socket.isOpen ? this.#answer(text) : undefined))
      .catch((error: unknown) => socket.fail(error))
      .finally(() => {
        this.#waiting -= 1;
      });
    // A socket that waits hears nothing, not even that its client has left.
    return this.#waiting > MOST_WAITING ? this.#turns : undefined;
  }

  async #answer(text: string): Promise<void> {
    const { socket, parse } = this.#upgrade;
    let lane: object = {};
    try {
      const { type, stream_id: stream, idempotency_key: given, generate, ...body } = fieldsOf(parse(text));
      if (typeof stream === 'string') lane = { stream_id: stream };
      if (type !== 'response.create') throw fieldError('type', "must be 'response.create'", 'invalid_value');
      if (generate === false) throw fieldError('generate', 'an app always answers', 'invalid_value');
      const key = typeof given === 'string' ? given : undefined;
      const frame = (event: object): string => `${JSON.stringify({ ...event, ...lane })}\n`;
      await this.#routes.tellOn(this.#upgrade, { body, key, frame });
    } catch (error) {
      if (!isGatewayError(error) || error.status >= 500) throw error;
      const told = this.#inTerms(error);
      if (socket.isOpen)
        socket.send(JSON.stringify({ type: 'error', status: told.status, ...toChatError(told), ...lane }));
    }
  }
}

/** @throws GatewayError `INVALID_REQUEST` for what is no object */
function fieldsOf(message: unknown): Readonly<Record<string, unknown>> {
  if (typeof message === 'object' && message !== null && !Array.isArray(message))
    return message as Readonly<Record<string, unknown>>;
  throw fieldError('body', 'must be an object', 'invalid_value');
}
