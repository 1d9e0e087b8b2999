import type { TraceChannel } from './channels.js';
import type { TraceOutcome } from './messages.js';

/**
 * Hears of each piece of work of one gateway once, when it is over.
 *
 * @param over `ms`: how long it took. What it throws goes to `failed`: it must not end the process.
 * @returns stops listening
 */
export function onOver<Message extends TraceOutcome & { readonly gatewayId: string }>(
  channel: Pick<TraceChannel<Message>, 'subscribe' | 'unsubscribe'>,
  gatewayId: string,
  { over, failed }: { over(message: Message, ms: number): void; failed(error: unknown): void },
): () => void {
  const finish = (message: Message): void => {
    // Gateways of a process share the channels. One that goes on asynchronously is not over at its `end`.
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
