import { GatewayError } from '../../shared/errors.js';
import type { GatewayEvent } from '../../shared/events.js';
import type { Message } from '../../shared/messages.js';
import type { ExportedKind, ResultOf } from '../../shared/operation-types.js';
import { nextTurn } from '../async/turn.js';
import { objectForm } from '../delivery/wire-form.js';
import { Lens } from '../grants/lens.js';
import type { View } from '../grants/view.js';
import type { LogView } from '../log/log-view.js';
import { pathTo } from '../log/message-tree.js';
import { boundedPage } from '../log/page.js';
import { stateAt } from '../log/snapshot.js';
import type { Session } from './session.js';

/** The kinds of items that features add. */
export type Exporters = Partial<
  Record<ExportedKind, (session: Session, log: LogView) => AsyncIterable<ResultOf<'export'>>>
>;

/** Most items in memory at once. */
const PAGE = { messages: 200, events: 500, bytes: 1 << 20 };

/** A part of a path: this many messages, up to and including this one. */
interface Part {
  readonly end: string;
  readonly count: number;
}

/** The session id under which items are exported, and the view that they are filtered by. */
interface ExportedAs {
  readonly sessionId: string;
  /** @default all */
  readonly view?: View | undefined;
}

/** The items of a session's open conversation, oldest first, as of now. Pages are read from the store as they are needed, each in a turn of its own. */
export function exportItems(
  session: Session,
  what: ExportedKind,
  { sessionId, view }: ExportedAs,
): AsyncIterable<ResultOf<'export'>> {
  const log = session.log!;
  const added = session.added.exporters[what];
  if (added) return added(session, log);
  return what === 'messages' ? messagesOf(log, view) : eventsOf(log, sessionId, view);
}

/**
 * The messages on the current path. The store walks from the last one to the first, so only the end of each part is remembered on the way.
 *
 * @throws GatewayError `SESSION_NOT_FOUND` if the session was deleted meanwhile
 */
async function* messagesOf(log: LogView, view: View | undefined): AsyncGenerator<Message> {
  const { tip } = await log.folded();
  const parts: Part[] = [];
  for (let end = tip; end !== null; ) {
    await nextTurn();
    const { messages } = await boundedPage(log, end, { limit: PAGE.messages, bytes: PAGE.bytes });
    if (messages.length === 0) throw gone();
    parts.push({ end, count: messages.length });
    end = messages[0]!.parentId ?? null;
  }
  for (const { end, count } of parts.reverse()) {
    await nextTurn();
    const messages = await pathTo(log, end, count);
    if (messages.length < count) throw gone();
    // Messages that the view hides are left out.
    for (const message of messages) {
      const { versions: _, ...plain } = message;
      yield view ? view.message(plain) : plain;
    }
  }
}

/**
 * The retained events. If earlier ones were cut, a `snapshot` of the state before them comes first.
 *
 * @throws GatewayError `CURSOR_GONE` if the next events were cut meanwhile
 */
async function* eventsOf(
  log: LogView,
  sessionId: string,
  view: View | undefined,
): AsyncGenerator<GatewayEvent> {
  const lens = view && new Lens(view, true);
  const { head } = log;
  let after = log.first - 1;
  if (after > 0) {
    const state = await stateAt(log, after);
    if (!state) throw cut();
    const cursor = log.cursorAt(after);
    yield* objectForm.transient('snapshot', { sessionId, cursor, state: view ? view.state(state) : state });
  }
  const origin = { sessionId, epoch: log.ref.epoch };
  while (after < head) {
    await nextTurn();
    const page = await log.read(after, Math.min(PAGE.events, head - after), PAGE.bytes);
    if (page[0]?.seq !== after + 1) throw cut();
    after = page.at(-1)!.seq;
    yield* objectForm.events(lens ? lens.of(page) : page, origin, null);
  }
}

function gone(): GatewayError {
  return new GatewayError({
    code: 'SESSION_NOT_FOUND',
    message: 'The session was deleted while it was exported',
  });
}

function cut(): GatewayError {
  return new GatewayError({
    code: 'CURSOR_GONE',
    message: 'Events were dropped while they were exported; export the session again',
  });
}
