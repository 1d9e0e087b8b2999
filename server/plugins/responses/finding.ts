import { cut } from '../../../shared/cut.js';
import { GatewayError } from '../../../shared/errors.js';
import type { SessionState } from '../../../shared/fold.js';
import type { ContentBlock } from '../../../shared/messages.js';
import { parseItemId, parseResponseId, responseId } from '../../../shared/responses/ids.js';
import type { SegmentName } from '../../../shared/segments.js';
import type { Person } from '../../auth/types.js';
import { fieldError, orNull } from '../conversation/errors.js';
import { recall } from '../conversation/recall.js';
import type { Dialect, PluginContext, PluginSession } from '../plugin.js';
import { isTemporary } from './places.js';

/** A response that was found in its caller's own scope. */
export interface FoundResponse {
  readonly session: PluginSession;
  readonly name: SegmentName;
  /** Its run: a cursor at or before its beginning, and whether it has ended. Null if only the history has it. */
  readonly run: { readonly cursor: string; readonly isOver: boolean } | null;
}

/** Finds responses and items by the session and run in their ids, without an index. */
export class Finder {
  readonly #context: PluginContext;

  constructor(context: PluginContext) {
    this.#context = context;
  }

  /** The response that an id names; null if the caller has no such response. */
  async response(id: string, person: Person): Promise<FoundResponse | null> {
    const name = parseResponseId(id);
    if (!name || isTemporary(name.sessionId)) return null;
    return this.segment(name, person);
  }

  /** @throws GatewayError for an id that names no response of the caller */
  async known(id: string, person: Person): Promise<FoundResponse> {
    const found = await this.response(id, person);
    if (found) return found;
    throw notFound('response_id', `There is no response ${JSON.stringify(cut(id, 256))}`);
  }

  async segment(name: SegmentName, person: Person): Promise<FoundResponse | null> {
    return orNull(async () => {
      const session = this.#context.session(name.sessionId, person);
      // Another spelling of the key names the same session, but is not in the ids of its responses.
      if (session.id !== name.sessionId) return null;
      const run = await orNull(() => session.run(name.runId).status());
      if (run) return { session, name, run: { cursor: run.cursor, isOver: run.state === 'ended' } };
      // The record of a run is kept for a day at least, but its events may be kept for longer.
      if (await isLogged(session, name.runId))
        return { session, name, run: { cursor: 'earliest', isOver: true } };
      const recalled = await recall(session, ({ runId }) => runId === name.runId);
      return recalled && { session, name, run: null };
    });
  }

  /** The content of an item that a request only names; null if it has none of its own. @throws GatewayError if there is no such item */
  async item(id: string, path: string, person: Person): Promise<readonly ContentBlock[] | null> {
    const name = parseItemId(id);
    // Reasoning is not sent to the app again, and an approval has its effect in another item.
    if (id.startsWith('rs_') || id.startsWith('mcpr_') || id.startsWith('mcpa_')) return null;
    const found =
      name &&
      (await orNull(async () => {
        const session = this.#context.session(name.sessionId, person);
        return recall(session, ({ runId }) => runId === name.runId);
      }));
    if (!found) throw notFound(path, `there is no item ${JSON.stringify(cut(id, 256))}`);
    const { content } = found.answer;
    if (name.kind !== 'msg')
      return content.filter(
        (block) =>
          (block.type === 'tool_use' || (block.type === 'tool_result' && name.kind === 'mcp')) &&
          block.callId === name.part,
      );
    // This is the rest of a block that continued behind a question. The item of its beginning stands for the whole block.
    if (!/^\d+$/.test(name.part)) return null;
    const block = content[Number(name.part)];
    return block ? [block] : null;
  }
}

/** The id of a response that was found. */
export function idOf({ name }: FoundResponse): string {
  return responseId(name);
}

/** Whether the kept events of a session include a run from its beginning. @throws GatewayError `SESSION_NOT_FOUND` */
async function isLogged(session: PluginSession, runId: string): Promise<boolean> {
  const { first, head } = await session.status();
  if (head < first) return false;
  const seeking: Dialect<boolean> = {
    begin: () => ({ state: false, text: '' }),
    encode(_, events, { isHead }) {
      const first = events.find((event) => 'runId' in event && event.runId === runId);
      return { state: first?.type === 'message_accepted', text: '', over: first !== undefined || isHead };
    },
  };
  return session.stream(seeking, { from: 'earliest' }).over;
}

/** The error for a named thing that does not exist. */
export function notFound(path: string, message: string, code = 'not_found'): GatewayError {
  return new GatewayError({ code: 'RUN_NOT_FOUND', message, details: [{ path, message, code }] });
}

/** Id of the last message of a response: its answer, or the question if there is no answer. */
export async function endOf({ session, name: { runId }, run }: FoundResponse): Promise<string | null> {
  const recalled = await recall(session, (message) => message.runId === runId);
  if (recalled || !run?.isOver) return recalled?.answer.id ?? null;
  for await (const event of session.events({ from: run.cursor })) {
    if (event.type === 'message_accepted' && event.runId === runId) return event.message.id;
    if (event.type === 'gap') break;
  }
  return null;
}

/** Id of the run that a next message would follow. */
export function lastRun(state: SessionState | null): string | undefined {
  return state?.queue.at(-1)?.runId ?? state?.run?.runId ?? state?.messages.at(-1)?.runId;
}

/** The error for a previous response that the caller does not have. */
export function previousNotFound(id: string): GatewayError {
  const message = `there is no response ${JSON.stringify(cut(id, 256))}`;
  return fieldError('previous_response_id', message, 'previous_response_not_found');
}
