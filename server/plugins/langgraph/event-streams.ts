import * as z from 'zod';
import type { Identity } from '../../auth/types.js';
import type { DoorOutlet } from '../conversation/told-segment.js';
import { eventDialect, seqOf, seqOfId, startOf } from './events.js';
import { type Threads, whole } from './threads.js';

/** A client's subscription to the events of a thread. */
export const eventsSchema = z.looseObject({
  channels: z.array(z.string()).min(1),
  namespaces: z.array(z.array(z.string())).optional(),
  since: z.number().optional(),
});

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

  /** @param lastId The id of the client's last event, which overrides `since` */
  async open(
    identity: Identity,
    threadId: string,
    { channels, namespaces, since = -1 }: z.infer<typeof eventsSchema>,
    lastId?: string,
  ): Promise<EventSubscription> {
    const found = await this.#threads.find(identity, threadId);
    // Only these channels repeat older messages. Others need only the last ones.
    const isWhole = channels.some((channel) => channel === 'values' || channel === 'checkpoints');
    const thread = found && isWhole ? await whole(found) : found;
    const session = thread?.session ?? this.#threads.open(identity, threadId);
    const { from, state } = await startOf(session, thread?.state ?? null);
    const cursor = thread?.state.cursor ?? null;
    const heard = seqOfId(lastId, cursor?.split('.')[0]);
    const filter = { channels, namespaces, since: heard ?? since };
    return {
      seq: seqOf(cursor),
      on: (outlet) => {
        const dialect = eventDialect(state, { ...filter, asLines: outlet.socket !== undefined });
        return session.stream(dialect, { ...outlet, from, follows: true }).over;
      },
    };
  }
}
