import { parseCursor } from '../../../shared/cursor.js';
import { GatewayError } from '../../../shared/errors.js';
import type { SessionState } from '../../../shared/fold.js';
import { versionOf } from '../../../shared/ui-stream/versions.js';
import type { PluginSession } from '../plugin.js';
import { codeOf } from './errors.js';

/** Limits of the search for a message, back from a session's end. */
const PAGE = 100;
const MAX_PAGES = 10;

/** The state of a session; null if it has not begun. */
export async function stateOf(session: PluginSession): Promise<SessionState | null> {
  try {
    await session.status();
  } catch (error) {
    if (codeOf(error) === 'SESSION_NOT_FOUND') return null;
    throw error;
  }
  for await (const event of session.events({ from: 'snapshot' }))
    if (event.type === 'snapshot') return event.state;
  return null;
}

/**
 * The messages of a session from its end on, page by page.
 *
 * @param options `before`: start there. `pages`: the largest number of pages
 */
export async function* pagesOf(
  session: Pick<PluginSession, 'history'>,
  { before, pages = MAX_PAGES }: { readonly before?: string; readonly pages?: number } = {},
): AsyncGenerator<Awaited<ReturnType<PluginSession['history']>>, void, undefined> {
  let place = before;
  for (let at = 0; at < pages; at++) {
    const page = await session.history({ limit: PAGE, ...(place !== undefined && { before: place }) });
    yield page;
    if (page.cursor === null) return;
    place = page.cursor;
  }
}

/** The state with enough of the session's older messages to include a given one, if the session has it. */
export async function stateReaching(session: PluginSession, id: string): Promise<SessionState | null> {
  const now = await stateOf(session);
  if (!now?.hasMore || versionOf(now, id)) return now;
  let state: SessionState = now;
  for await (const { messages, hasMore } of pagesOf(session)) {
    const known = new Set(state.messages.map((message) => message.id));
    const older = messages.filter((message) => !known.has(message.id));
    state = { ...state, messages: [...older, ...state.messages], hasMore };
    if (versionOf(state, id)) break;
  }
  return state;
}

/** Whether all events behind a place are kept. */
export async function isKept(session: PluginSession, cursor: string): Promise<boolean> {
  const { epoch, first } = await session.status();
  const place = parseCursor(cursor);
  return !place || place.epoch !== epoch || place.seq >= first - 1;
}

/** @throws GatewayError `CURSOR_GONE` if events behind a place are no longer kept, so that frames cannot be counted */
export async function assertKept(session: PluginSession, cursor: string): Promise<void> {
  if (!(await isKept(session, cursor))) throw new GatewayError({ code: 'CURSOR_GONE' });
}

/** Ends the active run, or the given one. False if none was active. */
export async function stop(session: PluginSession, runId: string | undefined): Promise<boolean> {
  try {
    return await session.abort({ reason: 'stopped', ...(runId !== undefined && { runId }) });
  } catch (error) {
    if (codeOf(error) === 'SESSION_NOT_FOUND') return false;
    throw error;
  }
}
