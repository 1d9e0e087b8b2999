import type { LaneRun } from '../../../shared/fold.js';
import type { Message } from '../../../shared/messages.js';
import type { HeldSession } from '../../held/held-session.js';
import { saidInRows } from '../../log/said.js';
import { asUnavailable } from '../../log/unavailable.js';
import type { Rewrites, RewrittenEvent } from '../../stores/rewrites.js';
import type { SaidChanges } from '../../stores/said.js';
import type { MessageRow } from '../../stores/stored.js';
import { type Forgotten, forgetAt, forgetIn, takenBack } from './forgetting.js';
import type { AskedRetraction } from './retracting.js';

const PAGE = { events: 1000, bytes: 1 << 20 };

/** All that the store has of a message that is taken back, without what it said. */
export interface RewritePlan {
  readonly rewrites: Rewrites;
  /** Rows that change: its own, and those with a summary that covers it. */
  readonly messages: readonly MessageRow[];
  /** Set if search finds it, and it is not among the messages in memory. */
  readonly said?: SaidChanges;
  /** Characters by which the events grow. */
  readonly grown: number;
}

/** The messages that a session shows, waits to answer or writes. */
export function shownIn({ log: { view } }: HeldSession): readonly Message[] {
  const { run, queue, lanes = [], messages } = view.state;
  return [
    ...messages,
    ...view.aside.values(),
    ...(run ? [run.message] : []),
    ...queue.flatMap(({ message, preceding = [] }) => [...preceding, message]),
    ...lanes.flatMap(({ message, asked, steering = [] }) => [asked, message, ...steering]),
  ];
}

/** Reads all that the store has of a message. Nothing may be cut meanwhile. */
export async function rewritingOf(held: HeldSession, asked: AskedRetraction): Promise<RewritePlan> {
  const { log, store } = held;
  const { view } = log;
  const { messageId, retracted } = asked;
  const rowOf = async (id: string): Promise<MessageRow | undefined> =>
    (await store.messages(log.ref, { tip: id, limit: 1 }))[0];
  const row = await rowOf(messageId);
  const forgotten = forgottenIn(held, asked, row);
  const events: RewrittenEvent[] = [];
  let grown = 0;
  for (let after = view.first - 1; after < view.head; ) {
    const page = await view.read(after, PAGE.events, PAGE.bytes);
    for (const event of page) {
      after = event.seq;
      const body = forgetIn(event, forgotten);
      if (body === null) continue;
      events.push({ seq: event.seq, body });
      grown += body.length - event.body.length;
    }
    if (page.length === 0) break;
    await new Promise(setImmediate);
  }
  const messages: MessageRow[] = row && !row.retracted ? [takenBack(row, retracted)] : [];
  // Every stored message that follows it may have a summary of it.
  for (let ids = row ? [messageId] : []; ids.length > 0; ) {
    const replies = await Promise.all(ids.map((id) => store.replies(log.ref, id)));
    ids = replies.flat();
    const rows = await Promise.all(ids.map(rowOf));
    for (const each of rows) {
      if (!each?.compaction) continue;
      const { compaction: _, ...others } = each;
      messages.push(others);
    }
  }
  const checkpoint = forgetAt(view.base, forgotten);
  return {
    rewrites: { events, ...(checkpoint && { checkpoint }) },
    messages,
    grown,
    ...(row && (await isAbove(held, row)) && { said: saidInRows([takenBack(row, retracted)]) }),
  };
}

/** Whether a message is on the path that is shown, above its part that is in memory. */
async function isAbove({ log, store }: HeldSession, { id, depth }: MessageRow): Promise<boolean> {
  const { messages, messageCount } = log.view.state;
  const tip = messages[0]?.parentId;
  const limit = messageCount - messages.length - depth + 1;
  if (!tip || limit < 1) return false;
  const [first] = await store.messages(log.ref, { tip, limit });
  return first?.id === id;
}

function forgottenIn(
  { log: { view } }: HeldSession,
  { messageId, retracted }: AskedRetraction,
  row: MessageRow | undefined,
): Forgotten {
  const { run, lanes = [], messages } = view.state;
  const of = ({ runId, children = [] }: Message): readonly (string | undefined)[] => [
    runId,
    ...children.map((child) => child.runId),
  ];
  const isIt = ({ id }: Message): boolean => id === messageId;
  const known = [...messages, ...view.aside.values(), ...(row ? [row] : [])].filter(isIt).flatMap(of);
  const active = [...(run ? [run] : []), ...lanes].filter(({ message }) => isIt(message));
  const runs = new Set([...known, ...active.map(({ runId }) => runId)].filter((id) => id !== undefined));
  const outlives = ({ detached, stopReason }: LaneRun): boolean => detached === true && !stopReason;
  const spared = new Set(lanes.filter(outlives).map(({ runId }) => runId));
  for (const lane of lanes)
    if (lane.parentRunId && runs.has(lane.parentRunId) && !spared.has(lane.runId)) runs.add(lane.runId);
  const at = messages.findIndex(isIt);
  const covers = (id: string): boolean =>
    view.aside.has(id) || messages.findIndex((message) => message.id === id) > at;
  return { messageId, retracted, runs, spared, covers };
}

/** Waits until no cut is on its way to the store. */
export async function uncut({ log }: HeldSession): Promise<void> {
  await asUnavailable(async () => {
    while (log.cutter.cutting) await log.cutter.cutting;
  });
}
