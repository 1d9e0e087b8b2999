import { GatewayError, isGatewayError } from '../../../shared/errors.js';
import type { ContentBlock, Message } from '../../../shared/messages.js';
import { parseItemId, parseResponseId, responseId } from '../../../shared/responses/ids.js';
import type { SegmentName } from '../../../shared/segments.js';
import type { Identity } from '../../auth/types.js';
import { pagesOf } from '../conversation/state.js';
import type { Dialect, PluginContext, PluginSession } from '../plugin.js';
import { isTemporary } from './places.js';

/** An answer and what it answers, as a history has them. */
export interface Recalled {
  readonly answer: Message;
  readonly question: Message | undefined;
}

/** A response that was found in its caller's own scope. */
export interface FoundResponse {
  readonly session: PluginSession;
  readonly name: SegmentName;
  /** Where its run begins, or something before it, and whether it has ended; null where only the history knows it. */
  readonly run: { readonly cursor: string; readonly isOver: boolean } | null;
}

/** Finds what ids name, by what they say themselves: there is no index. */
export class Finder {
  readonly #context: PluginContext;

  constructor(context: PluginContext) {
    this.#context = context;
  }

  /** The response that an id names; null where its caller has none. */
  async response(id: string, identity: Identity): Promise<FoundResponse | null> {
    const name = parseResponseId(id);
    if (!name || isTemporary(name.sessionId)) return null;
    return this.segment(name, identity);
  }

  /** @throws GatewayError for an id that names no response of its caller's */
  async known(id: string, identity: Identity): Promise<FoundResponse> {
    const found = await this.response(id, identity);
    if (found) return found;
    throw notFound('response_id', `There is no response ${JSON.stringify(id.slice(0, 256))}`);
  }

  async segment(name: SegmentName, identity: Identity): Promise<FoundResponse | null> {
    return orNull(async () => {
      const session = this.#context.session(name.sessionId, identity);
      // A key that is written in another way names the session too, but is not its response's id.
      if (session.id !== name.sessionId) return null;
      const run = await orNull(() => session.run(name.runId).status());
      if (run) return { session, name, run: { cursor: run.cursor, isOver: run.state === 'ended' } };
      // A run is known for a day at least; its events may be kept for longer.
      if (await isLogged(session, name.runId))
        return { session, name, run: { cursor: 'earliest', isOver: true } };
      const recalled = await recall(session, ({ runId }) => runId === name.runId);
      return recalled && { session, name, run: null };
    });
  }

  /** What an item is that is only named. @throws GatewayError where there is none */
  async item(id: string, path: string, identity: Identity): Promise<readonly ContentBlock[] | null> {
    const name = parseItemId(id);
    // Reasoning is not told twice, and what was asked has its answer in another item.
    if (id.startsWith('rs_') || id.startsWith('mcpr_') || id.startsWith('mcpa_')) return null;
    const found =
      name &&
      (await orNull(async () => {
        const session = this.#context.session(name.sessionId, identity);
        return recall(session, ({ runId }) => runId === name.runId);
      }));
    if (!found) throw notFound(path, `there is no item ${JSON.stringify(id.slice(0, 256))}`);
    const { content } = found.answer;
    if (name.kind !== 'msg')
      return content.filter(
        (block) =>
          (block.type === 'tool_use' || (block.type === 'tool_result' && name.kind === 'mcp')) &&
          block.callId === name.part,
      );
    // The rest of a block that went on behind a question: the block was named by its beginning.
    if (!/^\d+$/.test(name.part)) return null;
    const block = content[Number(name.part)];
    return block ? [block] : null;
  }
}

/** The id of a response that was found. */
export function idOf({ name }: FoundResponse): string {
  return responseId(name);
}

/** Looks for an answer in a session, from its end. The one that is being given is found too. */
export async function recall(
  session: Pick<PluginSession, 'history'>,
  fits: (message: Message) => boolean,
): Promise<Recalled | null> {
  let answer: Message | undefined;
  for await (const { messages, cursor } of pagesOf(session)) {
    answer ??= messages.findLast((message) => message.role === 'assistant' && fits(message));
    const parentId = answer?.parentId;
    const question = answer && messages.find(({ id }) => id === parentId);
    if (answer && (question || parentId == null || cursor === null)) return { answer, question };
  }
  return answer ? { answer, question: undefined } : null;
}

/** Whether the events that are kept of a session have a run from its beginning. @throws GatewayError `SESSION_NOT_FOUND` */
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

const MISSING = new Set(['SESSION_NOT_FOUND', 'RUN_NOT_FOUND', 'APP_NOT_FOUND', 'INVALID_REQUEST']);

/** What is found; null where there is nothing of the kind in the caller's scope, or a name could be none's. */
export async function orNull<T>(find: () => Promise<T>): Promise<T | null> {
  try {
    return await find();
  } catch (error) {
    if (isGatewayError(error) && (MISSING.has(error.code) || error.code === 'INVALID_PARAMS')) return null;
    throw error;
  }
}

/** Makes an error of something that is not there. */
export function notFound(path: string, message: string, code = 'not_found'): GatewayError {
  return new GatewayError({ code: 'RUN_NOT_FOUND', message, details: [{ path, message, code }] });
}
