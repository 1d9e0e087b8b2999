import type { Client } from '../client.js';
import { isHidden, watchPage } from '../page.js';
import { quietTimer } from '../timing.js';
import { clientInbox } from './client-inbox.js';

/** A session counts as read after it was shown for so long. */
const SETTLE_MS = 1000;
const SHOWN = [
  'message_accepted',
  'message_end',
  'input_required',
  'tool_confirmation_required',
  'history_moved',
  'gap',
] as const;

/**
 * Notes that a session is read while its page is visible: a second after events came, or once the page is shown again. Returns a function that ends
 * it. If the gateway refuses, the next events cause another attempt.
 *
 * @throws GatewayError `INVALID_REQUEST` if it is no client of this package
 *
 * @example
 * ```ts
 * const stop = readWhileVisible(client, 'main');
 * window.addEventListener('pagehide', stop);
 * ```
 */
export function readWhileVisible(client: Client<any>, sessionId: string): () => void {
  const inbox = clientInbox(client);
  let timer: ReturnType<typeof setTimeout> | undefined;
  /** Whether there are events that were not noted yet. */
  let isFresh = true;
  let isOver = false;
  const note = (): void => {
    if (!isFresh || isHidden() || isOver) return;
    clearTimeout(timer);
    timer = quietTimer(SETTLE_MS, () => {
      if (isHidden()) return;
      isFresh = false;
      inbox.read(sessionId).catch(() => {});
    });
  };
  const came = (): void => {
    isFresh = true;
    note();
  };
  const events = client.events(sessionId, { from: 'now', types: [...SHOWN] });
  const follow = async (): Promise<void> => {
    for await (const _event of events) came();
  };
  follow().catch(() => {});
  const unwatch = watchPage({ changed: () => {}, shown: note, hidden: () => clearTimeout(timer) });
  note();
  return () => {
    isOver = true;
    clearTimeout(timer);
    void events.return?.();
    unwatch();
  };
}
