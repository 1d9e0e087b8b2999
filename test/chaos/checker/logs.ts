import { parseCursor } from '../../../shared/cursor.js';
import { initialState, reduce } from '../../../shared/fold.js';
import type { History, View } from '../history.js';
import { canonical } from './facts.js';

/** One log at all gateways, dense, its terms never falling; the states, snapshots and histories of all gateways are the same, and are its fold. */
export function* judgeLogs({ views, costs }: History): Generator<string> {
  for (const view of views) {
    const first = views.find(({ sessionId }) => sessionId === view.sessionId)!;
    const { node, sessionId } = view;
    const where = `${sessionId} at ${node}`;
    if (view === first) yield* judgeLog(view);
    for (const part of ['events', 'state', 'messages'] as const) {
      if (canonical(view[part]) !== canonical(first[part]))
        yield `${where} shows other ${part} than ${first.node}: ${difference(first[part], view[part])}`;
    }
    const folded = view.events.reduce(reduce, initialState);
    const shown = view.state.messages;
    const { messages: all, ...rest } = folded;
    const { messages: _shown, hasMore: _more, ...given } = view.state;
    if (canonical(all.slice(-shown.length || all.length)) !== canonical(shown))
      yield `${where} shows a state with other messages than its events fold to`;
    const { hasMore: _all, ...ours } = rest;
    if (canonical(ours) !== canonical(given))
      yield `${where} shows a state that its events do not fold to: ${difference(ours, given)}`;
    const inHistory = view.messages.map(({ id, content }) => ({ id, content }));
    const inLog = all.slice(-inHistory.length || all.length).map(({ id, content }) => ({ id, content }));
    if (canonical(inHistory) !== canonical(inLog))
      yield `${where} has a history that its events do not fold to`;
  }
  if (costs.forgotten) return;
  const epochs = new Map(views.map((view) => [view.sessionId, new Set<string>()]));
  for (const { sessionId, events } of views)
    for (const { cursor } of events) epochs.get(sessionId)!.add(parseCursor(cursor)!.epoch);
  for (const [sessionId, found] of epochs) if (found.size > 1) yield `${sessionId} began ${found.size} times`;
}

function* judgeLog({ sessionId, events }: View): Generator<string> {
  let term = 0;
  for (const [index, event] of events.entries()) {
    const place = parseCursor(event.cursor);
    if (!place) {
      yield `${sessionId} has an event whose cursor is none: ${event.cursor}`;
      continue;
    }
    if (place.seq !== index + 1) yield `${sessionId} has ${event.cursor} in the place of number ${index + 1}`;
    if (place.term < term) yield `${sessionId} has a term that falls at ${event.cursor}`;
    term = place.term;
  }
}

/** Where two values differ first. */
function difference(one: unknown, other: unknown): string {
  const a = canonical(one);
  const b = canonical(other);
  let at = 0;
  while (at < a.length && a[at] === b[at]) at += 1;
  const from = Math.max(0, at - 60);
  return `${a.slice(from, at + 120)} | ${b.slice(from, at + 120)}`;
}
