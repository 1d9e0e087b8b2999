import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { isGatewayError } from '../../../shared/errors.js';
import type { PluginSocketListener, PluginUpgrade } from '../../transports/websocket/plugin-upgrade.js';
import { type CommandAnswer, type Commands, readCommand } from './commands.js';
import {
  type AskedEvents,
  type EventStreams,
  type EventSubscription,
  eventsSchema,
} from './event-streams.js';

const unsubscribeSchema = z.looseObject({ subscription_id: z.string() });

/**
 * A client of a thread on a WebSocket: its commands, and the events that it subscribes to. One stream tells all subscriptions in the log's
 * order, since pages take the end of a run for the end of its events, whichever subscription brings it.
 */
export class ThreadSocket implements PluginSocketListener {
  readonly #commands: Commands;
  readonly #streams: EventStreams;
  readonly #threadId: string;
  readonly #upgrade: PluginUpgrade;
  readonly #subscriptions = new Map<string, AskedEvents>();
  /** Ends the stream. */
  #end = new AbortController();

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
    const { person, parse } = this.#upgrade;
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
        return this.#answer(await this.#done(command?.id ?? null, body, person));
    }
  }

  async #done(id: number | null, body: unknown, person: PluginUpgrade['person']): Promise<CommandAnswer> {
    try {
      return await this.#commands.run(person, this.#threadId, body);
    } catch (error) {
      // A rate-limited client must wait, but need not connect again.
      if (isGatewayError(error) && error.status === 429)
        return { type: 'error', id, error: 'unknown_error', message: error.message };
      throw error;
    }
  }

  async #subscribe(id: number, params: unknown): Promise<void> {
    const parsed = eventsSchema.safeParse(params);
    if (!parsed.success) return this.#refuse(id, 'invalid_argument', 'channels: must be a list of names');
    if (this.#subscriptions.size >= MOST)
      return this.#refuse(id, 'not_supported', `A socket has at most ${MOST} subscriptions`);
    const subscription = randomUUID();
    this.#subscriptions.set(subscription, parsed.data);
    const events = await this.#open();
    const result = { subscription_id: subscription };
    this.#answer({ type: 'success', id, result, meta: { applied_through_seq: events.seq } });
    this.#tell(events);
  }

  async #unsubscribe(id: number, params: unknown): Promise<void> {
    const { subscription_id: subscription = '' } = unsubscribeSchema.safeParse(params).data ?? {};
    if (!this.#subscriptions.delete(subscription))
      return this.#refuse(id, 'no_such_subscription', `There is no subscription ${subscription}`);
    const events = await this.#open();
    this.#answer({ type: 'success', id, result: {} });
    this.#tell(events);
  }

  /** Ends the stream, and opens one for the subscriptions that there are now. */
  #open(): Promise<EventSubscription> {
    this.#end.abort();
    this.#end = new AbortController();
    return this.#streams.open(this.#upgrade.person, this.#threadId, [...this.#subscriptions.values()]);
  }

  #tell(events: EventSubscription): void {
    if (this.#subscriptions.size === 0) return;
    const { socket } = this.#upgrade;
    const { signal } = this.#end;
    const tell = async (): Promise<unknown> => {
      // A page that comes back subscribes to several things at once. It is told none of them before all of them are here.
      await socket.roundTrip();
      return signal.aborted ? undefined : events.on({ socket, signal });
    };
    tell().catch((error: unknown) => {
      if (!signal.aborted) socket.fail(error);
    });
  }

  #refuse(id: number, error: string, message: string): void {
    this.#answer({ type: 'error', id, error, message });
  }

  #answer(answer: CommandAnswer): void {
    this.#upgrade.socket.send(JSON.stringify(answer));
  }
}

/** The number of subscriptions of one socket. */
const MOST = 32;
