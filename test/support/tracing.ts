import type { MessageChannel, TraceChannel } from '../../server/diagnostics/index.js';
import { closeLater } from './resources.js';

/** One message, and the names of the events it came with so far. */
export interface Heard<Message> {
  readonly message: Message;
  readonly events: string[];
}

/** What a subscriber has heard. */
export interface Ear<Message> {
  readonly all: readonly Heard<Message>[];
  /** Waits for a piece of work that is over and matches. */
  over(matches?: (message: Message) => boolean): Promise<Heard<Message>>;
}

/** Hears all of a channel until the test ends. */
export function hear<Message extends { readonly gatewayId: string; result?: unknown; error?: unknown }>(
  channel: TraceChannel<Message>,
): Ear<Message> {
  const all: Heard<Message>[] = [];
  let waiting: (() => void)[] = [];
  const note = (event: string) => (message: Message) => {
    let heard = all.find((other) => other.message === message);
    if (!heard) {
      heard = { message, events: [] };
      all.push(heard);
    }
    heard.events.push(event);
    const wake = waiting;
    waiting = [];
    for (const check of wake) check();
  };
  const handlers = {
    start: note('start'),
    end: note('end'),
    asyncStart: note('asyncStart'),
    asyncEnd: note('asyncEnd'),
    error: note('error'),
  };
  channel.subscribe(handlers);
  closeLater(channel, (it) => it.unsubscribe(handlers));
  const isOver = ({ message, events }: Heard<Message>): boolean =>
    events.at(-1) === 'asyncEnd' || (events.at(-1) === 'end' && ('result' in message || 'error' in message));
  return {
    all,
    async over(matches = () => true) {
      for (;;) {
        const found = all.find((heard) => isOver(heard) && matches(heard.message));
        if (found) return found;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}

/** Hears one channel until the test ends. */
export function listen<Message>(channel: MessageChannel<Message>): {
  readonly all: readonly Message[];
  next(matches?: (message: Message) => boolean): Promise<Message>;
} {
  const all: Message[] = [];
  let waiting: (() => void)[] = [];
  const listener = (message: Message): void => {
    all.push(message);
    const wake = waiting;
    waiting = [];
    for (const check of wake) check();
  };
  channel.subscribe(listener);
  closeLater(channel, (it) => it.unsubscribe(listener));
  return {
    all,
    async next(matches = () => true) {
      for (;;) {
        const found = all.find(matches);
        if (found) return found;
        await new Promise<void>((resolve) => waiting.push(resolve));
      }
    },
  };
}
