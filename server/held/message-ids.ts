import { GatewayError } from '../../shared/errors.js';
import type { Message } from '../../shared/messages.js';
import type { LogView } from '../log/log-view.js';
import type { LogWriter } from '../log/log-writer.js';
import { asUnavailable } from '../log/unavailable.js';
import type { LiveRun, RunRequest } from '../runs/live-run.js';

/** Messages with ids of their caller. */
type NamedRequest = Pick<RunRequest, 'ownIds'>;

/**
 * Asserts that no message that left memory has an id that the caller chose. Null if the store need not be asked.
 *
 * @throws GatewayError `MESSAGE_EXISTS`; `OVERLOADED` if the store can't answer
 */
export function assertNotKept({ ownIds = [] }: NamedRequest, { view }: LogWriter): Promise<void> | null {
  if (ownIds.length === 0) return null;
  // Rows come from cuts, and from the beginning of a conversation, which its first move shows.
  if (view.base.seq === 0 && view.moves === 0) return null;
  return assertNoRows(ownIds, view);
}

async function assertNoRows(ids: readonly string[], log: LogView): Promise<void> {
  const rows = await asUnavailable(() => Promise.all(ids.map((id) => log.storedMessages(id, 1))));
  assertFree(rows.flat()[0]?.id);
}

/** Asserts that the caller's ids are new: an id names one message for good. @throws GatewayError `MESSAGE_EXISTS` */
export function assertNewIds(
  { ownIds = [] }: NamedRequest,
  { state: { messages, run }, aside }: Pick<LogView, 'state' | 'aside'>,
  runs: readonly LiveRun[],
): void {
  if (ownIds.length === 0) return;
  const isTaken = ({ id }: Message): boolean => ownIds.includes(id);
  const taken =
    ownIds.find((id, at) => ownIds.indexOf(id) !== at) ??
    messages.find(isTaken)?.id ??
    ownIds.find((id) => aside.has(id)) ??
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
