import type { ServerResponse } from 'node:http';
import type { AgUiEvent } from '../../../shared/ag-ui/events.js';
import { type AgUiReader, AgUiStream } from '../../../shared/ag-ui/stream.js';
import { parseCursor } from '../../../shared/cursor.js';
import { initialState, type SessionState } from '../../../shared/fold.js';
import { segmentDialect, type Tale, type Telling, tell } from '../conversation/telling.js';
import type { Dialect, PluginSession } from '../plugin.js';

/** A part of a run that a response is to tell to a client. */
export type AgUiTelling = Telling & AgUiReader;

/**
 * Where a run is told from, by what is known of its session.
 *
 * @param state The session before the run was sent, or a later one
 */
export function startOf(
  state: SessionState | null,
  { runId, cursor }: Pick<Telling, 'runId' | 'cursor'>,
): Pick<AgUiTelling, 'cursor' | 'session' | 'folds'> {
  if (state?.cursor == null) return { cursor, session: state ?? initialState, folds: true };
  // What comes before it begins is folded too.
  const folds = isBefore(state.cursor, cursor) || state.queue.some((queued) => queued.runId === runId);
  return { cursor: folds ? state.cursor : cursor, session: state, folds };
}

/** Whether one place of a log is not behind another. */
function isBefore(one: string, other: string): boolean {
  const [a, b] = [parseCursor(one), parseCursor(other)];
  return !!a && !!b && a.epoch === b.epoch && a.seq <= b.seq;
}

function frame(event: AgUiEvent): string {
  return `data: ${JSON.stringify(event)}\n\n`;
}

/** Events as text. */
export const frames = (events: readonly AgUiEvent[]): string => events.map(frame).join('');

/** The run's own dialect, behind what is said whatever follows. */
function dialectOf(telling: AgUiTelling): Dialect<Tale<AgUiEvent>> {
  const stream = new AgUiStream(telling.runId, telling.told, telling);
  const { begin, encode } = segmentDialect(telling, { stream: () => stream, frame });
  let isStarted = false;
  return {
    begin(session) {
      const encoded = begin(session);
      if (isStarted) return encoded;
      isStarted = true;
      return { ...encoded, text: frames(stream.start()) };
    },
    encode,
  };
}

/** Answers with a part of a run. */
export async function tellRun(
  response: ServerResponse,
  session: PluginSession,
  telling: AgUiTelling,
  report: (error: unknown, what: string) => void,
): Promise<void> {
  await tell(response, session, dialectOf(telling), { from: telling.cursor, report });
}
