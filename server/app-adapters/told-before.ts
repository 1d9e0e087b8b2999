import { cut } from '../../shared/cut.js';
import { type Message, textOf } from '../../shared/messages.js';

/** Characters of a message before, in what a new session of an agent is told. */
const MESSAGE = 4_000;
/** Messages of it. */
const MESSAGES = 50;

/** The conversation so far as one text, for a session of an agent that does not know it; null if nothing was said. */
export function toldBefore(history: readonly Message[]): string | null {
  const said = history
    .slice(-MESSAGES)
    .map((message) => ({ role: message.role, text: textOf(message) }))
    .filter(({ text }) => text !== '');
  if (said.length === 0) return null;
  const lines = said.map(({ role, text }) => `${role}: ${cut(text, MESSAGE)}`);
  return `[The conversation so far]\n${lines.join('\n')}\n[It goes on]`;
}
