import * as z from 'zod';
import type { Person } from '../../auth/types.js';
import type { DoorOutlet } from '../conversation/told-segment.js';
import { eventDialect, seqOf, seqOfId, startOf } from './events.js';
import { type Threads, whole } from './threads.js';

/** A client's subscription to the events of a thread. */
export const eventsSchema = z.looseObject({
  channels: z.array(z.string()).min(1),
  namespaces: z.array(z.array(z.string())).optional(),
  since: z.number().optional(),
});

/** A subscription, and how far its client was told. */
export interface AskedEvents extends z.infer<typeof eventsSchema> {
  told?: string | null;
}

/** The events of a thread, for one client. */
export interface EventSubscription {
  /** The number of events. */
  readonly seq: number;
  /** Writes the events for as long as the client reads. Rejects with the reason why there are no more. */
  on(outlet: DoorOutlet): Promise<unknown>;
}

/** Opens streams of threads' events. */
export class EventStreams {
  readonly #threads: Threads;

  constructor(threads: Threads) {
    this.#threads = threads;
  }

  /**
   * The events of one stream, for all of a client's subscriptions that it carries. How far they were told is kept in them.
   *
   * @param lastId The id of the client's last event, which overrides `since`
   */
  async open(
    person: Person,
    threadId: string,
    asked: readonly AskedEvents[],
    lastId?: string,
  ): Promise<EventSubscription> {
    const found = await this.#threads.find(person, threadId);
    // Only these channels repeat older messages. Others need only the last ones.
    const isWhole = asked.some(
      ({ channels }) => channels.includes('values') || channels.includes('checkpoints'),
    );
    const thread = found && isWhole ? await whole(found) : found;
    const session = thread?.session ?? this.#threads.open(person, threadId);
    const { from, state } = await startOf(session, thread?.state ?? null);
    const cursor = thread?.state.cursor ?? null;
    const epoch = cursor?.split('.')[0];
    const heard = seqOfId(lastId, epoch);
    const filters = asked.map(({ channels, namespaces, since = -1, told }) => {
      const isOfLog = told && told.split('.')[0] === epoch;
      return { channels, namespaces, since: heard ?? (isOfLog ? seqOf(told) : since) };
    });
    const passed = (place: string | null): void => {
      for (const each of asked) each.told = place;
    };
    return {
      seq: seqOf(cursor),
      on: (outlet) => {
        const dialect = eventDialect(state, filters, { asLines: outlet.socket !== undefined, passed });
        return session.stream(dialect, { ...outlet, from, follows: true }).over;
      },
    };
  }
}
