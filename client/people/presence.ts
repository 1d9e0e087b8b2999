import type { GatewayError } from '../../shared/gateway-error.js';
import type { ParamsOf } from '../../shared/operation-types.js';
import type { PresenceChange, PresenceMember } from '../../shared/presence/contract.js';
import type { Client } from '../client.js';
import { coreOf } from '../core-of.js';
import { createIterator, type EventIterator } from '../event-iterator.js';
import { createListeners } from '../listeners.js';
import { quietTimer } from '../timing.js';
import { misused } from '../transport/failure.js';

/** The interval of checks whether the connection has changed, in milliseconds. */
const LOOK_MS = 1000;
/** The wait before the next attempt while the connection does not follow the session yet, in milliseconds. */
const AGAIN_MS = 100;
/** The time after which somebody counts as no longer typing, in milliseconds. */
const TYPING_MS = 5000;

type OwnPresence = ParamsOf<'presence'>['state'];

/** The people in a session, as far as is known by now. */
export interface PresenceView {
  /** The members: each page that has the session open and entered, several for one user included. */
  readonly members: readonly PresenceMember[];
  /** The id of this page among them; absent if it has not entered. */
  readonly me?: string;
  /** The error after which nothing is known any more. */
  readonly error?: GatewayError;
}

/** The people in a session. Iterating yields the members, now and after each change. */
export interface SessionPresence extends AsyncIterable<PresenceView> {
  /** Enters this page, until `leave` or the end of its connection. @param data JSON for the others, of 1 KiB at most */
  enter(data?: unknown): void;
  /** Shows its user as typing for the next seconds. */
  typing(): void;
  /** Withdraws this page. */
  leave(): void;
  /** The same object until something changes. */
  readonly getSnapshot: () => PresenceView;
  /** Calls the listener after each change. Returns a function that removes it. Changes come while anybody listens, or while this page is entered. */
  readonly subscribe: (listener: () => void) => () => void;
}

/**
 * The people in a session of a client. Nothing about them is stored.
 *
 * @throws GatewayError `INVALID_REQUEST` if it is no client of this package
 *
 * @example
 * ```ts
 * const presence = sessionPresence(client, 'main');
 * presence.enter({ name: 'Ann' });
 * for await (const { members } of presence) console.log(members.map(({ data }) => data));
 * ```
 */
export function sessionPresence(
  client: Pick<Client, 'connection' | 'events'>,
  sessionId: string,
): SessionPresence {
  const core = coreOf.get(client);
  if (!core) throw misused('sessionPresence needs a client of createClient');
  const { call, person } = core;
  const listeners = createListeners();
  const iterators = new Set<EventIterator<PresenceView>>();
  let view: PresenceView = { members: [] };
  let entered: { readonly data?: unknown } | undefined;
  let isTyping = false;
  let silence: ReturnType<typeof setTimeout> | undefined;
  let stop: (() => void) | undefined;
  /** The connection and the state that were told last. */
  let told: string | undefined;
  /**
   * The changes on the stream since the gateway was asked and told it the whole; absent if it is not asked. They go on top of the answer: one
   * that is older than the answer is followed by a newer one.
   */
  let meanwhile: PresenceChange[] | undefined;
  /** Resolves once the last `leave` is done, which the next state must not overtake. */
  let leaving: Promise<unknown> = Promise.resolve();

  const show = (next: PresenceView) => {
    view = next;
    listeners.emit();
    for (const iterator of iterators) iterator.push(view);
  };
  const take = (change: PresenceChange) => {
    if (meanwhile) meanwhile = change.whole ? [] : [...meanwhile, change];
    show({ ...view, members: changed(view.members, change) });
  };
  const stateNow = (): OwnPresence => (entered ? (isTyping ? 'typing' : 'here') : undefined);

  /** Tells the gateway the present state on the present connection, until that succeeds. */
  const tell = async (): Promise<void> => {
    if (meanwhile) return;
    meanwhile = [];
    await leaving;
    while (stop) {
      const { id: connectionId, state } = client.connection;
      const said = JSON.stringify([connectionId, stateNow(), entered]);
      if (state !== 'open' || !connectionId || said === told) break;
      try {
        const asked = { sessionId, connectionId, state: stateNow(), ...entered };
        meanwhile = [];
        const answer = await call('presence', asked);
        told = said;
        const members = meanwhile.reduce(changed, answer.members);
        show({ members, ...(entered && { me: answer.id }) });
      } catch (cause) {
        const error = cause as GatewayError;
        if (error.code === 'CONNECTION_NOT_FOUND') {
          await new Promise((resolve) => void quietTimer(AGAIN_MS, resolve as () => void));
          continue;
        }
        // A refused state is not told again until it changes.
        if (!error.retryable) told = said;
        show({ ...view, error });
        break;
      }
    }
    meanwhile = undefined;
  };
  const settle = () => {
    if (entered || !listeners.isEmpty() || iterators.size > 0) return start();
    const left = stop;
    const { id: connectionId } = client.connection;
    stop = undefined;
    left?.();
    if (left && told && connectionId)
      leaving = call('presence', { sessionId, connectionId, state: 'gone' }).catch(() => {});
    told = undefined;
  };
  const start = () => {
    if (stop) return void tell();
    const events = client.events(sessionId, { from: 'now', types: ['presence'] });
    const looking = setInterval(() => void tell(), LOOK_MS);
    (looking as { unref?(): void }).unref?.();
    const stops = [
      client.connection.subscribe(() => void tell()),
      person.subscribe(() => show({ members: [] })),
    ];
    stop = () => {
      clearInterval(looking);
      for (const each of stops) each();
      void events.return?.();
    };
    const follow = async () => {
      for await (const event of events) take(event as unknown as PresenceChange);
    };
    follow().catch((error) => show({ ...view, error }));
    void tell();
  };

  return {
    enter: (data) => {
      entered = { data };
      settle();
    },
    typing: () => {
      if (!entered) return;
      clearTimeout(silence);
      silence = quietTimer(TYPING_MS, () => {
        isTyping = false;
        void tell();
      });
      isTyping = true;
      void tell();
    },
    leave: () => {
      entered = undefined;
      isTyping = false;
      settle();
    },
    getSnapshot: () => view,
    subscribe: (listener) => {
      const unsubscribe = listeners.subscribe(listener);
      settle();
      return () => {
        unsubscribe();
        settle();
      };
    },
    [Symbol.asyncIterator]: () => {
      const iterator: EventIterator<PresenceView> = createIterator({
        left: () => {
          iterators.delete(iterator);
          settle();
        },
      });
      iterators.add(iterator);
      iterator.push(view);
      settle();
      return iterator;
    },
  };
}

/** The members after a change. */
function changed(
  before: readonly PresenceMember[],
  { members, gone = [], whole }: PresenceChange,
): readonly PresenceMember[] {
  const after = new Map([...(whole ? [] : before), ...members].map((member) => [member.id, member]));
  for (const id of gone) after.delete(id);
  return [...after.values()];
}
