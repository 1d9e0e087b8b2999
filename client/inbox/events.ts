import type { GatewayEvent } from '../../shared/events.js';
import type { GatewayError } from '../../shared/gateway-error.js';
import { INBOX, type InboxChange, type InboxRow } from '../../shared/inbox/contract.js';
import { isFinal } from '../line.js';
import { watchPage } from '../page.js';
import type { Core } from '../run.js';
import { backoff, createWatchdog, delay, openScope, raceSignal } from '../timing.js';
import { failed, silence } from '../transport/failure.js';
import type { Link, LinkEnd } from '../transport/transport.js';

/** The start of the changes, and a signal that ends them. */
export interface InboxEventsOptions {
  /** The `place` of a page or an event. Changes since then come first. @default begins with a first page, which resets */
  readonly from?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A change of the inbox, and the place after it. */
export interface InboxEvent extends InboxChange {
  /** Reading goes on from here. Absent if more of the same change follows. */
  readonly place?: string;
}

/** Changes that their reader has not taken yet: the newest row of each session. */
class WaitingRows {
  #rows = new Map<string, InboxRow>();
  #last: InboxEvent | null = null;
  #isReset = false;

  add({ sessions, unread, waiting, reset, cursor }: Extract<GatewayEvent, { type: 'inbox' }>): void {
    if (reset) {
      this.#rows.clear();
      this.#isReset = true;
    }
    for (const row of sessions) {
      // Moves the row to the end, so that the newest comes last.
      this.#rows.delete(row.sessionId);
      this.#rows.set(row.sessionId, row);
    }
    this.#last = { sessions: [], unread, waiting, ...(cursor !== undefined && { place: cursor }) };
  }

  take(): InboxEvent | null {
    const last = this.#last;
    if (!last) return null;
    const event = {
      ...last,
      sessions: [...this.#rows.values()],
      ...(this.#isReset && { reset: true as const }),
    };
    this.#rows = new Map();
    this.#last = null;
    this.#isReset = false;
    return event;
  }
}

/** The changes of the inbox of a client's user. They come over links of their own, each of which goes on where the one before ended. */
export async function* inboxEvents(
  core: Core,
  { from, signal: given }: InboxEventsOptions = {},
): AsyncGenerator<InboxEvent, void, undefined> {
  const { transport, aborts, person, retries } = core;
  const { signal, release } = openScope(given, aborts);
  let waiting = new WaitingRows();
  let place = from;
  let wake = (): void => {};
  let end: LinkEnd | null = null;
  let tried = 0;
  let link: Link | undefined;
  const open = (): void => {
    end = null;
    const over = (ended: LinkEnd): void => {
      watchdog.stop();
      end ??= ended;
      wake();
    };
    const failedToFollow = (error: GatewayError): void => {
      over({ error });
      own.close();
    };
    const watchdog = createWatchdog(() => {
      over({ error: silence(transport.address ?? transport.name) });
      own.close();
    });
    const targets = [{ sessionId: INBOX, ...(place !== undefined && { cursor: place }) }];
    const own: Link = transport.open(targets, {
      onEvent: (event) => {
        if (link !== own || end) return;
        if (event.type === 'connected') {
          if (person.met(event.user)) return;
          tried = 0;
          if (!transport.isGuarded) watchdog.expect(event.heartbeatMs);
          // A socket that was already open for requests does not follow the inbox yet.
          if (!event.sessions[INBOX]) own.subscribe({ add: targets }).catch(failedToFollow);
        }
        if (event.type === 'inbox') waiting.add(event);
        if (event.cursor !== undefined) place = event.cursor;
        if (event.type === 'inbox') wake();
      },
      onProgress: () => watchdog.heard(),
      // One place is enough to go on, so a new link replaces it.
      onStale: () => own.close(),
      onClose: over,
    });
    link = own;
  };
  const unwatch = watchPage({ changed: () => link?.close(), shown: () => {} });
  // Another person's inbox has other places.
  const forget = person.subscribe(() => {
    place = undefined;
    waiting = new WaitingRows();
    link?.close();
  });
  try {
    for (;;) {
      if (!link) open();
      const event = waiting.take();
      if (event) {
        yield event;
        continue;
      }
      if (end) {
        const { error, retryMs = 0 } = end as LinkEnd;
        link = undefined;
        const cause = error && failed(transport, 'events', error);
        if (cause && isFinal(cause) && !(cause.code === 'UNAUTHENTICATED' && tried < 1)) throw cause;
        if (cause) await retries.wait(cause, tried++, signal);
        else await delay(backoff(tried++, retryMs), signal);
        continue;
      }
      await raceSignal(
        signal,
        () =>
          new Promise<void>((resolve) => {
            wake = resolve;
          }),
      );
    }
  } catch (error) {
    // A reader that ended the iteration sees no error.
    if (!signal.aborted) throw error;
  } finally {
    unwatch();
    forget();
    release();
    const last = link;
    link = undefined;
    (last as Link | undefined)?.close();
  }
}
