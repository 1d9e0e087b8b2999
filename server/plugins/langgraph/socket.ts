import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { isGatewayError } from '../../../shared/errors.js';
import type { PluginSocketListener, PluginUpgrade } from '../../transports/websocket/plugin-upgrade.js';
import { type CommandAnswer, type Commands, readCommand } from './commands.js';
import { type EventStreams, eventsSchema } from './event-streams.js';

const unsubscribeSchema = z.looseObject({ subscription_id: z.string() });

/** A client of a thread on a WebSocket: its commands, and the events that it subscribes to. */
export class ThreadSocket implements PluginSocketListener {
  readonly #commands: Commands;
  readonly #streams: EventStreams;
  readonly #threadId: string;
  readonly #upgrade: PluginUpgrade;
  readonly #subscriptions = new Map<string, AbortController>();

  constructor(
    { commands, streams }: { readonly commands: Commands; readonly streams: EventStreams },
    threadId: string,
    upgrade: PluginUpgrade,
  ) {
    this.#commands = commands;
    this.#streams = streams;
    this.#threadId = threadId;
    this.#upgrade = upgrade;
  }

  async message(text: string): Promise<void> {
    const { identity, parse } = this.#upgrade;
    let body: unknown;
    try {
      body = parse(text);
    } catch {
      // A text that is no JSON is no command either.
    }
    const command = readCommand(body);
    switch (command?.method) {
      case 'subscription.subscribe':
        return this.#subscribe(command.id, command.params);
      case 'subscription.unsubscribe':
        return this.#unsubscribe(command.id, command.params);
      default:
        return this.#answer(await this.#done(command?.id ?? null, body, identity));
    }
  }

  async #done(id: number | null, body: unknown, identity: PluginUpgrade['identity']): Promise<CommandAnswer> {
    try {
      return await this.#commands.run(identity, this.#threadId, body);
    } catch (error) {
      // A rate-limited client must wait, but need not connect again.
      if (isGatewayError(error) && error.status === 429)
        return { type: 'error', id, error: 'unknown_error', message: error.message };
      throw error;
    }
  }

  async #subscribe(id: number, params: unknown): Promise<void> {
    const { socket, identity } = this.#upgrade;
    const parsed = eventsSchema.safeParse(params);
    if (!parsed.success) return this.#refuse(id, 'invalid_argument', 'channels: must be a list of names');
    if (this.#subscriptions.size >= MOST)
      return this.#refuse(id, 'not_supported', `A socket has at most ${MOST} subscriptions`);
    const subscription = randomUUID();
    const end = new AbortController();
    this.#subscriptions.set(subscription, end);
    const result = { subscription_id: subscription };
    const tell = await this.#streams.open(identity, this.#threadId, parsed.data);
    this.#answer({ type: 'success', id, result, meta: { applied_through_seq: tell.seq } });
    tell.on({ socket, signal: end.signal }).catch((error: unknown) => {
      if (!end.signal.aborted) socket.fail(error);
    });
  }

  #unsubscribe(id: number, params: unknown): void {
    const { subscription_id: subscription = '' } = unsubscribeSchema.safeParse(params).data ?? {};
    const end = this.#subscriptions.get(subscription);
    if (!end) return this.#refuse(id, 'no_such_subscription', `There is no subscription ${subscription}`);
    this.#subscriptions.delete(subscription);
    end.abort();
    this.#answer({ type: 'success', id, result: {} });
  }

  #refuse(id: number, error: string, message: string): void {
    this.#answer({ type: 'error', id, error, message });
  }

  #answer(answer: CommandAnswer): void {
    this.#upgrade.socket.send(JSON.stringify(answer));
  }
}

/** The number of subscriptions of one socket. Each is a stream of the thread. */
const MOST = 32;
