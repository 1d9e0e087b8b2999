import { once as onceOf } from 'node:events';
import {
  type Application,
  type Compact,
  defineApp,
  type SessionHandle,
  type Turn,
} from '../../server/index.js';
import { type Message, textOf } from '../../shared/messages.js';

export const once = (signal: AbortSignal, name: string): Promise<unknown> => onceOf(signal as any, name);

/** What an app is given, in short: a summary in brackets, and the text of each message. */
export const given = (history: readonly Message[]): string =>
  history.map((message) => (message.compaction ? `[${textOf(message)}]` : textOf(message))).join(' ');

/** A model that charges a token a character. */
export const charge = ({ history, message }: Pick<Turn, 'history' | 'message'>) => ({
  inputTokens: [...history, message].reduce((sum, each) => sum + textOf(each).length, 0),
  outputTokens: 1,
});

/** Summarizes from seven messages on, notes what it is given, and charges a token a character. */
export const sized = (compact: Partial<Compact> = {}, made: string[] = []): Compact => ({
  when: { messages: 7 },
  keep: 2,
  make({ messages }) {
    made.push(given(messages));
    const inputTokens = messages.reduce((sum, each) => sum + textOf(each).length, 0);
    return { summary: `sum of ${messages.length}`, usage: { inputTokens, outputTokens: 2 } };
  },
  ...compact,
});

/** An app that answers `ok`, and keeps what it was given. */
export function summarizing(compact: Compact, more: Partial<Application> = {}) {
  const histories: string[] = [];
  const app = defineApp({
    ...more,
    compact,
    run(turn) {
      histories.push(given(turn.history));
      return { text: 'ok', usage: charge(turn) };
    },
  });
  return { app, histories };
}

/** Sends `q1` to `q<count>`. */
export async function talk(session: Pick<SessionHandle, 'send'>, count: number): Promise<void> {
  for (let n = 1; n <= count; n++) await session.send({ id: `q${n}`, content: `q${n}` }).result;
}

/** The summaries of messages. */
export const summariesIn = (messages: readonly Message[]): readonly string[] =>
  messages.flatMap(({ id, compaction }) => (compaction ? [`${id}: ${compaction.summary}`] : []));
