import { GatewayError } from '../../shared/errors.js';
import type { SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import type { LogWriter } from '../log/log-writer.js';
import { asUnavailable } from '../log/unavailable.js';
import { andThen, type MaybePromise } from '../maybe-promise.js';
import type { Run, RunRequest } from '../runs/run.js';
import type { Session } from './session.js';

/**
 * Holds a session for messages whose ids its callers chose: none of those that left memory may have them.
 *
 * @throws GatewayError `MESSAGE_EXISTS`, `OVERLOADED`, and what the session answers
 */
export function holdForNew(session: Session, request: RunRequest): MaybePromise<LogWriter> {
  return andThen(session.hold({ userId: request.user?.id }), (held) => {
    const isChecked = !request.ownIds?.length || !held!.state.hasMore;
    return isChecked ? held! : holdChecked(session, held!, request);
  });
}

async function holdChecked(session: Session, log: LogWriter, request: RunRequest): Promise<LogWriter> {
  const ids = request.ownIds ?? [];
  const kept = await asUnavailable(() => Promise.all(ids.map((id) => log.view.storedMessages(id, 1))));
  assertFree(kept.flat()[0]?.id);
  // It may have been given up while the store was asked.
  return session.writer === log ? log : holdForNew(session, request);
}

/** A caller's own id names its message for good: it must not come to mean another. @throws GatewayError `MESSAGE_EXISTS` */
export function assertNewIds(
  request: RunRequest,
  { messages, run }: SessionState,
  runs: readonly Run[],
): void {
  const added = messagesOf(request).map(({ id }) => id);
  const isTaken = ({ id }: Message): boolean => added.includes(id);
  const taken =
    added.find((id, at) => added.indexOf(id) !== at) ??
    messages.find(isTaken)?.id ??
    runs.flatMap((other) => messagesOf(other.request)).find(isTaken)?.id ??
    (run && isTaken(run.message) ? run.message.id : undefined);
  assertFree(taken);
}

function assertFree(taken: string | undefined): void {
  if (taken !== undefined) throw new GatewayError({ code: 'MESSAGE_EXISTS', details: { messageId: taken } });
}

function messagesOf({ preceding, message }: RunRequest): readonly Message[] {
  return [...preceding, message];
}
