import type {
  Client,
  EventOf,
  EventType,
  GatewayError,
  GatewayEvent,
  Message,
  PendingQuestion,
} from '../client/index.js';
import { parseCursor } from '../shared/cursor.js';

export { textOf } from '../shared/messages.js';

/** A tool's call, as a message shows it. */
export interface ToolCall {
  readonly name: string;
  readonly input: unknown;
  /** Undefined before the result. */
  readonly output: unknown;
  readonly isError: boolean;
}

/** The tool calls of a message, in order. */
export function toolCallsOf({ content }: Pick<Message, 'content'>): ToolCall[] {
  return content.flatMap((block) => {
    if (block.type !== 'tool_use') return [];
    const result = content.find(
      (other): other is Extract<typeof other, { type: 'tool_result' }> =>
        other.type === 'tool_result' && other.callId === block.callId,
    );
    return [
      { name: block.name, input: block.input, output: result?.output, isError: result?.isError === true },
    ];
  });
}

/** Whether an event has a type; narrows the event for TypeScript. */
export function isEvent<Type extends EventType>(event: GatewayEvent, type: Type): event is EventOf<Type> {
  return event.type === type;
}

/** The next event of a type from an iterator, which continues after it. */
export async function nextEvent<Type extends EventType>(
  events: AsyncIterator<GatewayEvent>,
  type: Type,
): Promise<EventOf<Type>> {
  const seen: string[] = [];
  for (;;) {
    const { done, value } = await events.next();
    if (done) throw new Error(`No ${type} came; there were: ${seen.join(', ') || 'no events'}`);
    if (isEvent(value, type)) return value;
    seen.push(value.type);
  }
}

/** Waits for a pending confirmation or question of a session. @param name Name of the tool or question */
export function pendingOf(client: Client, sessionId: string, name?: string): Promise<PendingQuestion> {
  return new Promise((resolve, reject) => {
    const watch = client.session(sessionId).watch();
    const look = (): void => {
      const { pending, error } = watch.getSnapshot();
      const found = pending.find((each) => name === undefined || each.name === name);
      if (!found && !error) return;
      // `stop` may not exist yet, because `subscribe` or the first `look` calls this.
      queueMicrotask(() => stop());
      if (found) resolve(found);
      else reject(error);
    };
    const stop = watch.subscribe(look);
    look();
  });
}

/** All kept events of a session up to now; none if it has not begun. */
export async function eventsOf(client: Client, sessionId: string): Promise<GatewayEvent[]> {
  const all: GatewayEvent[] = [];
  const head = await client.status(sessionId).then(
    (status) => status.head,
    (error: GatewayError) => {
      if (error.code !== 'SESSION_NOT_FOUND') throw error;
      return 0;
    },
  );
  if (head === 0) return all;
  for await (const event of client.events(sessionId, { from: 'earliest' })) {
    all.push(event);
    if (event.cursor !== undefined && parseCursor(event.cursor)!.seq >= head) break;
  }
  return all;
}
