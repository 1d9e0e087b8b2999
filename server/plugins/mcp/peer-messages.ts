import { composeId, partsOfId } from '../../../shared/composed-id.js';
import { isPlainObject } from '../../schema/schema.js';
import type { PluginPeers } from '../plugin.js';
import type { McpSession } from './client-session.js';
import type { JSONRPCMessage } from './sdk.js';

/** A client's message for a session object at another gateway. */
export interface PeerMessage {
  readonly sessionId: string;
  readonly owner: string;
  readonly message: JSONRPCMessage;
}

type PeerFields = Readonly<Record<string, unknown>>;

/** Tags the id of a server's own request with its gateway, since each of a client's servers counts from 0. */
export function tagged(message: JSONRPCMessage, holder: string): JSONRPCMessage {
  const { id, method, params } = message as { id?: unknown; method?: unknown; params?: PeerFields };
  if (method === 'notifications/cancelled')
    return { ...message, params: { ...params, requestId: withTag(params?.requestId, holder) } } as never;
  if (method === undefined || id === undefined) return message;
  return { ...message, id: withTag(id, holder) } as never;
}

const withTag = (id: unknown, holder: string): string => composeId(String(id), holder);

/**
 * The part of a client's request that is for the session object here. Answers to another gateway's questions are passed on to that gateway.
 * A cancellation is passed on to the gateway that runs the call. Undefined if nothing is left.
 */
export async function sorted(
  peers: PluginPeers,
  { sessionId, owner }: Omit<PeerMessage, 'message'>,
  body: unknown,
): Promise<unknown> {
  if (Array.isArray(body)) {
    const left = await Promise.all(body.map((message) => sorted(peers, { sessionId, owner }, message)));
    const own = left.filter((message) => message !== undefined);
    return own.length > 0 ? own : undefined;
  }
  if (!isPlainObject(body)) return body;
  const { id, method } = body;
  if (method === 'notifications/cancelled')
    await peers.askAll('message', { sessionId, owner, message: body as never } satisfies PeerMessage);
  if (method !== undefined || typeof id !== 'string') return body;
  const [number = '', holder = peers.holder] = partsOfId(id) ?? [];
  const message = { ...body, id: Number(number) } as never;
  if (holder === peers.holder) return message;
  await peers.ask(holder, 'message', { sessionId, owner, message } satisfies PeerMessage);
  return undefined;
}

/** Gives a session object a message that its client sent to another gateway. */
export function hear(session: McpSession | undefined, { message }: PeerMessage): void {
  session?.hear(message);
}
