import { formatCursor } from '../../shared/cursor.js';
import { GatewayError } from '../../shared/errors.js';
import type { SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import { andThen, type MaybePromise } from '../maybe-promise.js';
import { lastThatFit } from './fit.js';
import type { LogView } from './log-view.js';
import { foldWhile } from './retention.js';
import { showing } from './showing.js';

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
  if (seq === log.head) return trim(log, log.state, seq);
  // One base throughout: a cut may move it while the store is asked.
  const { base } = log;
  const folded = foldWhile(log, base.seq, base.state, (event) => event.seq <= seq);
  return andThen(folded, ({ state, seq: reached }) => {
    if (reached !== seq) {
      if (log.base !== base) return null;
      throw new GatewayError({ code: 'INTERNAL', message: `Event ${reached + 1} is missing in the store` });
    }
    const missing = SNAPSHOT_MESSAGES - state.messages.length;
    if (missing <= 0 || base.state.tip === null) return trim(log, state, seq);
    const older = pathTo(log, base.state.tip, missing);
    return andThen(older, (rows) => trim(log, { ...state, messages: [...rows, ...state.messages] }, seq));
  });
}

function trim(log: LogView, state: SessionState, seq: number): SessionState {
  const { messages } = lastThatFit(state.messages.slice(-SNAPSHOT_MESSAGES), log.pageBytes);
  const cursor = formatCursor(log.ref.epoch, log.termAt(seq), seq);
  return { ...showing(state, messages), cursor };
}

/** The last `limit` messages of a folded log up to one, oldest first: from memory, else from the store's rows. None where there is no such message. */
export function pathTo(log: LogView, tip: string, limit: number): MaybePromise<readonly Message[]> {
  const { messages } = log.state;
  const end = messages.findLastIndex(({ id }) => id === tip) + 1;
  if (end === 0) return log.storedMessages(tip, limit);
  const kept = messages.slice(Math.max(0, end - limit), end);
  const before = kept[0]!.parentId ?? null;
  if (kept.length === limit || before === null) return kept;
  return andThen(log.storedMessages(before, limit - kept.length), (rows) => [...rows, ...kept]);
}
