import type { TraceChannel } from './channels.js';
import type { TraceOutcome } from './messages.js';

/**
 * Calls back once for each piece of work of one gateway, at its end.
 *
 * @param over Receives the duration as `ms`. Its errors go to `failed`, because they must not end the process.
 * @returns a function that stops listening
 */
export function onOver<Message extends TraceOutcome & { readonly gatewayId: string }>(
  channel: Pick<TraceChannel<Message>, 'subscribe' | 'unsubscribe'>,
  gatewayId: string,
  { over, failed }: { over(message: Message, ms: number): void; failed(error: unknown): void },
): () => void {
  const finish = (message: Message): void => {
    // All gateways of a process share the channels. Asynchronous work is not over at its `end`.
    if (message.gatewayId !== gatewayId || message.ms === undefined) return;
    try {
      over(message, message.ms);
    } catch (error) {
      failed(error);
    }
  };
  const handlers = { end: finish, asyncEnd: finish };
  channel.subscribe(handlers);
  return () => void channel.unsubscribe(handlers);
}
