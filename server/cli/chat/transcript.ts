import type { EventOf, EventType, GatewayEvent, Message, SessionState } from 'agent-session-gateway/client';
import { textOf } from '../../../shared/messages.js';
import { brief, type LinePart, styled } from '../terminal.js';

/** Takes lines, and the text of an answer as it comes. A line ends the text's own, also one without parts, which is not written. */
export interface Page {
  say(...line: readonly LinePart[]): void;
  piece(text: string, isReasoning: boolean): void;
}

const ENDS: Readonly<Record<string, string>> = {
  superseded: 'given up for a newer message',
  taken_over: 'a person has taken over',
  handed_off: 'a person was asked for',
  budget: 'a budget is used up',
  timeout: 'ended: it took too long',
  moderated: 'ended: what came next was not allowed',
  max_tokens: 'cut off: the answer reached its bound of tokens',
  lost: 'lost: the gateway stopped before the answer was complete',
};

const dim = (text: string) => styled('dim', text);
const yellow = (text: string) => styled('yellow', text);

/** The line that is said of an event, beside the texts of messages. */
const NOTES: { readonly [Type in EventType]?: (event: EventOf<Type>) => LinePart | null | undefined } = {
  tool_use: ({ name, input }) => styled('cyan', `· ${name} ${brief(input)}`),
  tool_result: ({ name, output, isError }) => styled(isError ? 'red' : 'dim', `  ${name}: ${brief(output)}`),
  tool_progress: ({ value, total = '?', message = '' }) => dim(`  ${value} of ${total} ${message}`),
  tool_confirmation_result: ({ name, approved, reason = 'no reason given' }) =>
    dim(`  ${name} was ${approved ? 'approved' : `denied: ${reason}`}`),
  input_result: ({ name }) => dim(`  ${name} was answered`),
  data: ({ name, value }) => dim(`  [${name}] ${brief(value)}`),
  run_held: () => yellow('This answer waits for an update of the assistant, and goes on by itself.'),
  run_error: ({ code, message }) =>
    code === 'DENIED' ? yellow(`(${message})`) : styled('red', `${message} (${code})`),
  gap: () => yellow('(some events are not kept any more; what follows is how things stand now)'),
  history_moved: ({ added, tip, messageCount: at }) =>
    added
      ? null
      : yellow(`(the conversation ${tip === null ? 'begins anew' : `goes on from its message ${at}`})`),
  session_updated: ({ title }) => title && dim(`(the conversation is called ${JSON.stringify(title)})`),
  session_closed: ({ reason }) => yellow(`(the conversation was closed: ${reason})`),
};

/** Writes what happens in a session for a person: each message once, even after a gap. */
export class Transcript {
  readonly #page: Page;
  /** Number of characters of each message's text that were written. */
  readonly #shown = new Map<string, number>();
  #isReasoning = false;

  constructor(page: Page) {
    this.#page = page;
  }

  /** Holds a message as written. */
  skip(messageId: string): void {
    this.#shown.set(messageId, Number.POSITIVE_INFINITY);
  }

  /** Writes what an event has changed. @param state The session after it */
  event(event: GatewayEvent, state: Pick<SessionState, 'messages' | 'run'>): void {
    if (event.type === 'reasoning_delta') return this.#piece(event.delta, true);
    const said = (NOTES[event.type] as ((event: GatewayEvent) => LinePart | undefined) | undefined)?.(event);
    if (said) this.#page.say(said);
    this.show(state);
  }

  /** Writes what was not yet written of the messages. */
  show({ messages, run }: Pick<SessionState, 'messages' | 'run'>): void {
    for (const message of messages) {
      const { id, role, stopReason = 'end' } = message;
      if (this.#shown.get(id) === Number.POSITIVE_INFINITY) continue;
      if (role === 'assistant') this.#text(message);
      else this.#page.say(styled('bold', '> '), textOf(message));
      this.skip(id);
      this.#page.say(
        ...(/^(?:end|error)$/.test(stopReason) ? [] : [yellow(`(${ENDS[stopReason] ?? stopReason})`)]),
      );
    }
    if (run === null) this.#page.say();
    else this.#text(run.message);
  }

  #text(message: Message): void {
    const text = textOf(message);
    const shown = this.#shown.get(message.id) ?? 0;
    this.#shown.set(message.id, Math.max(shown, text.length));
    if (text.length > shown) this.#piece(text.slice(shown), false);
  }

  #piece(text: string, isReasoning: boolean): void {
    if (isReasoning !== this.#isReasoning) this.#page.say();
    this.#isReasoning = isReasoning;
    this.#page.piece(text, isReasoning);
  }
}
