import { formatCursor } from '../../shared/cursor.js';
import { GatewayError } from '../../shared/errors.js';
import type { SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import { andThen, type MaybePromise } from '../maybe-promise.js';
import { lastThatFit } from './fit.js';
import type { LogView } from './log-view.js';
import { foldWhile } from './retention.js';

/** Messages a snapshot carries; `history` has the older ones. */
const SNAPSHOT_MESSAGES = 50;

// Readers that come together are given one state, which is then encoded once.
const latest = new WeakMap<LogView, { readonly seq: number; readonly state: WeakRef<SessionState> }>();

/**
 * The folded state at a retained place, as clients receive it: the last messages, as far as they fit `pageBytes`. Null when the place
 * was cut while the store was asked.
 */
export function stateAt(log: LogView, seq: number): MaybePromise<SessionState | null> {
  const known = latest.get(log);
  const shared = known?.seq === seq ? known.state.deref() : undefined;
  if (shared) return shared;
  return andThen(
    andThen(log.folded(), () => foldedAt(log, seq)),
    (state) => {
      if (state) latest.set(log, { seq, state: new WeakRef(state) });
      return state;
    },
  );
}

function foldedAt(log: LogView, seq: number): MaybePromise<SessionState | null> {
  if (seq === log.head) return trim(log, log.state, log.messageCount, seq);
  // One base throughout: a cut may move it while the store is asked.
  const { base } = log;
  const folded = foldWhile(log, base.seq, { ...base.state, messages: [] }, (event) => event.seq <= seq);
  return andThen(folded, ({ state, seq: reached }) => {
    if (reached !== seq) {
      if (log.base !== base) return null;
      throw new GatewayError({ code: 'INTERNAL', message: `Event ${reached + 1} is missing in the store` });
    }
    const count = base.messageCount + state.messages.length;
    const missing = SNAPSHOT_MESSAGES - state.messages.length;
    if (missing <= 0 || base.messageCount === 0) return trim(log, state, count, seq);
    const older = messagePage(log, base.messageCount, missing);
    return andThen(older, (rows) =>
      trim(log, { ...state, messages: [...rows, ...state.messages] }, count, seq),
    );
  });
}

function trim(log: LogView, state: SessionState, count: number, seq: number): SessionState {
  const { messages } = lastThatFit(state.messages.slice(-SNAPSHOT_MESSAGES), log.pageBytes);
  const cursor = formatCursor(log.ref.epoch, log.termAt(seq), seq);
  return { ...state, cursor, messages, hasMore: count > messages.length };
}

/** Up to `limit` messages of a folded log before the ordinal `before`, oldest first: from memory, else from the store's rows. */
export function messagePage(log: LogView, before: number, limit: number): MaybePromise<readonly Message[]> {
  const { messageCount, state } = log;
  const end = Math.min(before, messageCount);
  const start = Math.max(0, end - limit);
  const inMemory = messageCount - state.messages.length;
  if (start >= inMemory) return state.messages.slice(start - inMemory, end - inMemory);
  const stored = Math.min(end, inMemory);
  return andThen(log.storedMessages(stored, stored - start), (rows) => [
    ...rows,
    ...state.messages.slice(0, end - stored),
  ]);
}
