import { reduce, type SessionState } from '../../shared/fold.js';
import { andThen, type MaybePromise } from '../maybe-promise.js';
import type { Checkpoint, Store, StoredEvent } from '../stores/store.js';
import { parseEvent } from './entry.js';
import type { SessionLog } from './log.js';

/** How much of a log is kept. Whatever is exceeded first cuts the oldest events; messages are never cut. */
export interface Retention {
  readonly events: number;
  readonly bytes: number;
  readonly ageMs: number;
}

// Cutting costs a pass over what is cut, so it waits until a tenth has gathered and then makes that much room.
const SLACK = 0.1;
const PAGE = { events: 1000, bytes: 1 << 20 };

export function exceeds(log: SessionLog, retention: Retention): boolean {
  return (
    log.head - log.first + 1 > retention.events * (1 + SLACK) || log.bytes > retention.bytes * (1 + SLACK)
  );
}

/** Cuts what exceeds the retention: folds it into a checkpoint, stores that with the messages it completed, then drops the events. */
export function cutLog(
  log: SessionLog,
  store: Store,
  retention: Retention,
  now = Date.now(),
): MaybePromise<void> {
  const oldest = now - retention.ageMs;
  let events = log.head - log.first + 1 - retention.events;
  let bytes = log.bytes - retention.bytes;
  const drops = (event: StoredEvent): boolean => {
    if (events <= 0 && bytes <= 0 && event.ts >= oldest) return false;
    events -= 1;
    bytes -= event.body.length;
    return true;
  };
  const from: SessionState = { ...log.base.state, messages: [] };
  return andThen(foldWhile(log, log.base.seq, from, drops), ({ state, seq, size }) => {
    if (seq < log.first) return;
    const { messages } = state;
    const checkpoint: Checkpoint = {
      seq,
      state: { ...state, messages: [] },
      messageCount: log.base.messageCount + messages.length,
    };
    // Before the store answers, so that whoever reads a page that begins too late finds out why.
    log.base = checkpoint;
    log.first = seq + 1;
    log.bytes -= size;
    return andThen(store.cut(log.ref, checkpoint, messages), () =>
      log.forgetMessages(checkpoint.messageCount),
    );
  });
}

/** Folds stored events after `seq` as long as the predicate takes them. */
export function foldWhile(
  log: SessionLog,
  seq: number,
  state: SessionState,
  takes: (event: StoredEvent) => boolean,
  size = 0,
): MaybePromise<{ state: SessionState; seq: number; size: number }> {
  return andThen(log.read(seq, PAGE.events, PAGE.bytes), (page) => {
    for (const event of page) {
      if (!takes(event)) return { state, seq, size };
      state = reduce(state, parseEvent(event));
      seq = event.seq;
      size += event.body.length;
    }
    return page.length === 0 ? { state, seq, size } : foldWhile(log, seq, state, takes, size);
  });
}
