import { formatCursor } from '../../shared/cursor.js';
import { GatewayError } from '../../shared/errors.js';
import type { SessionState } from '../../shared/fold.js';
import { lastThatFit } from './fit.js';
import type { LogView } from './log-view.js';
import { pathTo } from './message-tree.js';
import { foldWhile } from './retention.js';
import { showing } from './showing.js';

/** Number of messages in a snapshot. `history` has the older ones. */
export const SNAPSHOT_MESSAGES = 50;

/** The state that is being folded, and the last folded one while somebody references it. */
interface Shared {
  readonly seq: number;
  readonly folding: Promise<SessionState | null> | null;
  readonly state: WeakRef<SessionState> | null;
}

// Readers that come together share one state, which is encoded once.
const latest = new WeakMap<LogView, Shared>();

/**
 * The folded state at a retained place, as clients receive it, with the last messages that fit `pageBytes`. Null if the place was cut while
 * the store was asked.
 */
export async function stateAt(log: LogView, seq: number): Promise<SessionState | null> {
  const known = latest.get(log);
  const shared = known?.seq === seq ? (known.folding ?? known.state?.deref()) : undefined;
  if (shared) return shared;
  const folding = foldedAt(log, seq);
  latest.set(log, { seq, folding, state: null });
  const forget = (state: SessionState | null): void => {
    if (latest.get(log)?.folding === folding)
      latest.set(log, { seq, folding: null, state: state && new WeakRef(state) });
  };
  folding.then(forget, () => forget(null));
  return folding;
}

async function foldedAt(log: LogView, seq: number): Promise<SessionState | null> {
  await log.folded();
  if (seq === log.head) return trim(log, log.state, seq);
  // Use one base throughout: a cut may replace it while the store is asked.
  const { base } = log;
  // The log was cut elsewhere before any of it was folded here.
  if (base.seq > seq) return null;
  const { state, seq: reached } = await foldWhile(log, base.seq, base.state, (event) => event.seq <= seq);
  if (reached !== seq) {
    if (!log.isFoldedFrom(base)) return null;
    throw new GatewayError({
      code: 'INTERNAL',
      message: `The store lacks event ${reached + 1} of session ${log.ref.name}`,
    });
  }
  const missing = SNAPSHOT_MESSAGES - state.messages.length;
  const before = state.messages.length > 0 ? (state.messages[0]!.parentId ?? null) : state.tip;
  if (missing <= 0 || before === null) return trim(log, state, seq);
  const older = await pathTo(log, before, missing);
  return trim(log, { ...state, messages: [...older, ...state.messages] }, seq);
}

function trim(log: LogView, state: SessionState, seq: number): SessionState {
  const { messages } = lastThatFit(state.messages.slice(-SNAPSHOT_MESSAGES), log.pageBytes);
  const cursor = formatCursor(log.ref.epoch, log.termAt(seq), seq);
  return { ...showing(state, messages), cursor };
}
