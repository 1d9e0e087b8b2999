import { GatewayError } from '../../shared/errors.js';
import type { SessionState } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import type { Run, RunRequest } from '../runs/run.js';

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
  if (taken !== undefined) throw new GatewayError({ code: 'MESSAGE_EXISTS', details: { messageId: taken } });
}

function messagesOf({ preceding, message }: RunRequest): readonly Message[] {
  return [...preceding, message];
}
