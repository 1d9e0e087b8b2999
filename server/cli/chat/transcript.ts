import type {
  GatewayEvent,
  Message,
  PendingQuestion,
  SessionState,
  StopReason,
} from 'agent-session-gateway/client';
import { cut } from '../../../shared/cut.js';
import { type LinePart, styled, type Terminal } from '../terminal.js';

/** Longest shown text of a tool's value, in characters. */
const SHOWN = 200;

const ENDS: Readonly<Partial<Record<StopReason, string>>> = {
  aborted: 'aborted',
  superseded: 'given up for a newer message',
  taken_over: 'a person has taken over',
  handed_off: 'a person was asked for',
  timeout: 'ended: it took too long',
  max_tokens: 'cut off: the answer reached its bound of tokens',
  lost: 'lost: the gateway stopped before the answer was complete',
};

/** Writes the events of a session as lines for a person. Writes each message once, even after a gap. */
export class Transcript {
  readonly #terminal: Terminal;
  /** Number of characters already shown, by message. */
  readonly #shown = new Map<string, number>();
  #answerId: string | undefined;
  /** Id of the answer that is still growing. */
  #growing: string | undefined;
  #isMidLine = false;
  /** Whether what was written last is reasoning. */
  #isThinking = false;

  constructor(terminal: Terminal) {
    this.#terminal = terminal;
  }

  /** Marks a message as shown, because the person typed it here. */
  typed(messageId: string): void {
    this.#shown.set(messageId, Number.POSITIVE_INFINITY);
  }

  /** Writes a line of the program itself. */
  note(...line: readonly LinePart[]): void {
    this.#endLine();
    this.#terminal.say(...line);
  }

  /** Writes the last messages of a session. @param last Number of messages to show. */
  open(state: SessionState, last: number): void {
    const hidden = state.messages.slice(0, Math.max(0, state.messages.length - last));
    for (const { id } of hidden) this.typed(id);
    if (hidden.length > 0 || state.hasMore) this.note(styled('dim', '(earlier messages are not shown)'));
    this.#catchUp(state);
  }

  event(event: GatewayEvent): void {
    switch (event.type) {
      case 'message_accepted':
        return this.#message(event.message);
      case 'message_start':
        this.#answerId = event.messageId;
        this.#growing = event.messageId;
        return;
      case 'content_delta':
        return this.#text(event.delta);
      case 'reasoning_delta':
        this.#isThinking = true;
        return this.#write(styled('dim', event.delta));
      case 'tool_use':
        return this.note(styled('cyan', `· ${event.name} `), styled('dim', brief(event.input)));
      case 'tool_result':
        return this.note(styled(event.isError ? 'red' : 'dim', `  ${event.name}: ${brief(event.output)}`));
      case 'tool_progress': {
        const of = event.total === undefined ? '' : ` of ${event.total}`;
        return this.note(styled('dim', `  ${event.value}${of} ${event.message ?? ''}`));
      }
      case 'tool_confirmation_result': {
        const reason = event.reason === undefined ? '' : `: ${event.reason}`;
        return this.note(
          styled('dim', `  ${event.name} was ${event.approved ? 'approved' : 'denied'}${reason}`),
        );
      }
      case 'input_result':
        return this.note(styled('dim', `  ${event.name} was answered`));
      case 'data':
        return this.note(styled('dim', `  [${event.name}] ${brief(event.value)}`));
      case 'channel':
        return this.note(styled('dim', `# ${event.channel}: ${brief(event.event.payload)}`));
      case 'custom':
        return this.note(styled('dim', `* ${event.name}: ${brief(event.payload)}`));
      case 'run_error':
        return event.code === 'DENIED'
          ? this.note(styled('yellow', `(${event.message})`))
          : this.note(styled('red', `${event.message} (${event.code})`));
      case 'message_end':
        return this.#end(event.stopReason, event.message);
      case 'gap':
        return this.note(
          styled('yellow', '(some events are not kept any more; what follows is how things stand now)'),
        );
      case 'snapshot':
        return this.#catchUp(event.state);
      case 'history_moved':
        this.note(
          styled(
            'yellow',
            event.tip === null
              ? '(the conversation begins anew)'
              : `(the conversation goes on from its message ${event.messageCount})`,
          ),
        );
        for (const message of event.messages ?? []) this.#message(message);
        return;
      case 'session_updated':
        if (event.title)
          this.note(styled('dim', `(the conversation is called ${JSON.stringify(event.title)})`));
        return;
      case 'session_closed':
        return this.note(styled('yellow', `(the conversation was closed: ${event.reason})`));
    }
  }

  /** Writes a question, above the prompt for the answer. */
  question({ kind, name, message, input, schema }: PendingQuestion): void {
    this.note(styled('bold', `? ${message ?? (kind === 'confirmation' ? `Allow ${name}?` : name)}`));
    if (input !== undefined && !(kind === 'confirmation' && message !== undefined))
      this.note(styled('dim', `  ${brief(input)}`));
    if (kind === 'input' && schema !== undefined) this.note(styled('dim', `  wanted: ${brief(schema)}`));
  }

  #message({ id, role, content, metadata: _, ...message }: Message): void {
    if (this.#shown.has(id)) return;
    this.typed(id);
    if (role === 'assistant') this.#answerId = id;
    const who = role === 'user' ? '> ' : '';
    this.note(styled('bold', who), textIn({ content }));
    if (role === 'assistant') this.#sayEnd(message.stopReason ?? 'end');
  }

  #catchUp({ messages, run, queue }: SessionState): void {
    for (const message of messages) {
      const shown = this.#shown.get(message.id);
      if (shown === undefined) this.#message(message);
      else if (message.role === 'assistant' && Number.isFinite(shown)) this.#end(message.stopReason, message);
    }
    const known = [...messages, ...(run === null ? [] : [run.message])];
    if (this.#growing !== undefined && !known.some(({ id }) => id === this.#growing)) this.#sayEnd('lost');
    if (run !== null) {
      this.#answerId = run.message.id;
      this.#growing = run.message.id;
      this.#text(textIn(run.message).slice(this.#shown.get(run.message.id) ?? 0));
    }
    for (const { message } of queue) this.#message(message);
  }

  #end(stopReason: StopReason | undefined, message: Message): void {
    const rest = textIn(message).slice(this.#shown.get(message.id) ?? 0);
    if (rest !== '') this.#write(rest);
    this.typed(message.id);
    this.#sayEnd(stopReason ?? 'end');
  }

  #sayEnd(stopReason: StopReason): void {
    this.#growing = undefined;
    this.#endLine();
    const said = ENDS[stopReason];
    if (said !== undefined) this.#terminal.say(styled('yellow', `(${said})`));
  }

  #text(text: string): void {
    if (this.#isThinking) this.#endLine();
    this.#isThinking = false;
    const id = this.#answerId ?? '';
    this.#shown.set(id, (this.#shown.get(id) ?? 0) + text.length);
    this.#write(text);
  }

  #write(part: LinePart): void {
    const text = typeof part === 'string' ? part : part.text;
    if (text === '') return;
    this.#terminal.write(part);
    this.#isMidLine = !text.endsWith('\n');
  }

  #endLine(): void {
    if (this.#isMidLine) this.#terminal.write('\n');
    this.#isMidLine = false;
  }
}

function textIn({ content }: Pick<Message, 'content'>): string {
  return content.map((block) => (block.type === 'text' ? block.text : '')).join('');
}

/** A value as one line. */
export function brief(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  const line = text.replace(/\s+/g, ' ');
  return cut(line, SHOWN, '…');
}
