import { createHash } from 'node:crypto';
import { GatewayError } from '../../../shared/errors.js';
import type { Accepted } from '../../../shared/operation-types.js';
import { sameContent, versionId, versionOf } from '../../../shared/ui-stream/versions.js';
import type { PluginSession } from '../plugin.js';
import type { RunStart } from './input.js';
import { isCode, type Thread } from './threads.js';

/** How runs are begun. */
export interface StartingOptions {
  readonly onBusy: 'queue' | 'interrupt' | 'reject';
  readonly seed: boolean;
}

/** A run that was begun now or before. */
export type Started = Pick<Accepted, 'runId' | 'cursor'>;

/**
 * Begins what a client asks for. What is asked for again, by the id of its message, is the run that it was.
 *
 * @param thread The thread as it was; null where it has not begun
 * @throws GatewayError
 */
export async function begin(
  session: PluginSession,
  thread: Thread | null,
  start: RunStart,
  options: StartingOptions,
): Promise<Started> {
  const { message, parent, metadata, parameters } = start;
  const given = { ...(metadata && { metadata }), ...(parameters && { parameters }) };
  if (!message) return answerAgain(session, thread, parent, given);
  const { id, content } = message;
  const known = id !== undefined && thread ? versionOf(thread.state, id) : undefined;
  const key = keyOf(id, parent);
  const sent = key === undefined ? null : await session.sent(key);
  if (sent && (!known || sameContent(known.content, content))) return sent;
  if (!thread && options.seed && start.before.length > 0) await seeded(session, start);
  const onBusy = start.onBusy ?? options.onBusy;
  if (known && parent === undefined && sameContent(known.content, content))
    return answerAgain(session, thread, known.id, given);
  if (known) {
    // The page has the message by its id; each version has one of its own here.
    const mark = createHash('sha256')
      .update(JSON.stringify([parent ?? '', content]))
      .digest('base64url')
      .slice(0, 12);
    const place = parent === undefined ? { replaces: known.id } : { parent };
    const edited = { id: versionId(id!, mark), content };
    return session.send(edited, { ...given, ...place, onBusy, idempotencyKey: keyOf(edited.id, parent) })
      .accepted;
  }
  const place = parent === undefined ? {} : { parent };
  const input = { ...(id !== undefined && { id }), content };
  return session.send(input, {
    ...given,
    ...place,
    onBusy,
    ...(key !== undefined && { idempotencyKey: key }),
  }).accepted;
}

/** A message that is sent again under its id is the same; behind another place it is another. */
function keyOf(id: string | undefined, parent: string | null | undefined): string | undefined {
  if (id === undefined) return undefined;
  const key = parent === undefined ? id : `${id}:behind:${parent ?? ''}`;
  return /^[\x21-\x7e]{1,256}$/.test(key) ? key : createHash('sha256').update(key).digest('base64url');
}

/** Of two first requests at once one begins the session; what the other brings is in it then. */
async function seeded(session: PluginSession, { before }: RunStart): Promise<void> {
  try {
    await session.import(before);
  } catch (error) {
    if (!isCode(error, 'SESSION_EXISTS')) throw error;
  }
}

/** Who asks again while the answer is given is answered by that. */
async function answerAgain(
  session: PluginSession,
  thread: Thread | null,
  parent: string | null | undefined,
  given: object,
): Promise<Started> {
  const { messages = [], run } = thread?.state ?? {};
  const tip = parent === undefined ? messages.findLast(({ role }) => role === 'user')?.id : parent;
  if (tip == null)
    throw new GatewayError({ code: 'INVALID_REQUEST', message: 'input: there is no message to answer' });
  if (run && run.message.parentId === tip) return session.run(run.runId).status();
  const answered = messages.find(({ parentId }) => parentId === tip)?.id ?? '';
  const idempotencyKey = `${tip}:regenerate:${answered}`.slice(-256);
  return session.regenerate({ messageId: tip, ...given, idempotencyKey }).accepted;
}
