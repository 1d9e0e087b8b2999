import type { SessionEnvironment } from './environment.js';
import type { Session } from './session.js';

/** What is published in a session and emitted from it, beside its runs. Where the session is not held it goes nowhere. */
export class Publisher {
  readonly #session: Session;
  readonly #env: SessionEnvironment;

  constructor(session: Session, env: SessionEnvironment) {
    this.#session = session;
    this.#env = env;
  }

  /** @throws GatewayError `INVALID_PARAMS` when the payload does not fit the channel. */
  publish(channel: string, type: string, payload: unknown, runId?: string): void {
    this.#env.checkPayload('channels', channel, payload);
    const event = { type, payload };
    this.#session.writer?.append({ type: 'channel', runId, ts: Date.now(), channel, event });
  }

  /** The same for a client, who is told when it is stored. @throws GatewayError also `OVERLOADED` */
  async publishStored(channel: string, type: string, payload: unknown): Promise<void> {
    this.#env.checkPayload('channels', channel, payload);
    const draft = { type: 'channel', ts: Date.now(), channel, event: { type, payload } } as const;
    await this.#session.writer?.commit([draft], { refusable: true });
  }

  /** @throws GatewayError `INVALID_PARAMS` when the payload does not fit the event. */
  emit(name: string, payload: unknown, runId?: string): void {
    this.#env.checkPayload('events', name, payload);
    this.#session.writer?.append({ type: 'custom', runId, ts: Date.now(), name, payload });
    this.#env.notify({ type: 'custom', sessionId: this.#session.id, name, payload });
  }
}
