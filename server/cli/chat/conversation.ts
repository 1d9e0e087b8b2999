import {
  type Client,
  type ClientSession,
  GatewayError,
  initialState,
  isGatewayError,
  type PendingQuestion,
  type Run,
  reduce,
  type SessionState,
} from 'agent-session-gateway/client';
import { styled, type Terminal } from '../terminal.js';
import { type LineReader, readLines } from './line-reader.js';
import { Transcript } from './transcript.js';
import { watchConnection } from './watch-connection.js';

/** Earlier messages that are shown at the start. */
const SHOWN_BEFORE = 10;

const HELP = `Ctrl+C stops the answer; twice at an empty line it leaves, as Ctrl+D does. An answer goes on when you leave.
Lines that are pasted are one message, as are lines that end with \\.
/retry  has the last message answered again     /close  ends the conversation     /exit  leaves     /help  shows this`;

/** The person's next step: write a message, wait, or answer a question. */
type Wanted = 'message' | 'wait' | PendingQuestion;

/** The conversation of a person at a terminal with a session, which others may use at the same time. */
export class TerminalConversation {
  readonly #session: ClientSession;
  readonly #client: Client;
  readonly #transcript: Transcript;
  readonly #lines: LineReader;
  readonly #over = new AbortController();
  /** Questions that this person answered; the session may still show them. */
  readonly #answered = new Set<string>();
  #state: SessionState = initialState;
  /** This person's message, while the session does not show it yet. */
  #sending: Run | undefined;
  /** The prompt on the screen. `moved` aborts when another step is wanted. */
  #asking: { readonly key: string; readonly moved: AbortController } | undefined;
  #isAborting = false;
  #isLeaving = false;
  #failure: unknown;

  constructor(client: Client, sessionId: string, terminal: Terminal) {
    this.#client = client;
    this.#session = client.session(sessionId);
    this.#transcript = new Transcript(terminal);
    this.#lines = readLines(terminal, { interrupted: () => this.#interrupt(), ended: () => this.#leave() });
  }

  /** Runs until the person leaves. @throws GatewayError the gateway's refusal of the session */
  async run(): Promise<void> {
    const unwatch = watchConnection(this.#client, (text) => this.#note('yellow', text));
    try {
      this.#state = await this.#session.state();
      this.#note('dim', `Session ${this.#session.id}. /help tells what keys and words do.`);
      this.#transcript.open(this.#state, SHOWN_BEFORE);
      void this.#follow(this.#state.cursor ?? 'earliest');
      while (!this.#over.signal.aborted) await this.#turn();
    } finally {
      unwatch();
      this.#lines.close();
      this.#session.detach();
    }
    if (this.#failure !== undefined) throw this.#failure;
  }

  async #follow(from: string): Promise<void> {
    try {
      for await (const event of this.#session.events({ from, signal: this.#over.signal })) {
        this.#state = event.type === 'snapshot' ? event.state : reduce(this.#state, event);
        if (event.type === 'message_end') this.#isAborting = false;
        this.#look();
        this.#lines.above(() => this.#transcript.event(event));
      }
    } catch (error) {
      this.#failure = error;
    }
    this.#leave();
  }

  #wanted(): Wanted {
    const { pending, run, queue } = this.#state;
    const question = pending.find(({ callId }) => !this.#answered.has(callId));
    if (question !== undefined) return question;
    return run !== null || queue.length > 0 || this.#sending !== undefined ? 'wait' : 'message';
  }

  /** Takes back the prompt if the session now wants another step. */
  #look(): void {
    if (this.#asking !== undefined && this.#asking.key !== keyOf(this.#wanted())) this.#asking.moved.abort();
  }

  async #turn(): Promise<void> {
    const wanted = this.#wanted();
    const moved = new AbortController();
    this.#asking = { key: keyOf(wanted), moved };
    if (wanted === 'wait') {
      await new Promise<void>((resolve) => {
        moved.signal.addEventListener('abort', () => resolve(), { once: true });
      });
    } else if (wanted === 'message') {
      const line = await this.#lines.read('> ', moved.signal);
      if (typeof line === 'string') await this.#said(line.trim());
    } else await this.#answer(wanted, moved.signal);
  }

  async #said(line: string): Promise<void> {
    this.#isLeaving = false;
    if (line === '') return;
    if (line === '/exit' || line === '/quit') return this.#leave();
    if (line === '/help') return this.#transcript.note(HELP);
    if (line === '/close') return this.#try(() => this.#session.close());
    if (line === '/retry') return this.#begin(this.#session.regenerate());
    const [unknown] = /^\/(?!\/)\w*(?=\s|$)/.exec(line) ?? [];
    if (unknown !== undefined)
      return this.#note('yellow', `${unknown} is not known: /help tells what is. To send it, write /${line}`);
    this.#begin(this.#session.send(line.replace(/^\/\//, '/')));
  }

  #begin(run: Run): void {
    this.#sending = run;
    this.#transcript.typed(run.idempotencyKey);
    run.accepted
      .catch((error: unknown) => this.#note('red', `Not sent: ${messageOf(error)}`))
      // The session's events show the message from its acceptance on, before or after this.
      .then(() => run.result.catch(() => {}))
      .then(() => {
        if (this.#sending === run) this.#sending = undefined;
        this.#look();
      });
  }

  async #answer(question: PendingQuestion, moved: AbortSignal): Promise<void> {
    const { callId, kind } = question;
    this.#transcript.question(question);
    const prompt = kind === 'confirmation' ? '[y/n] ' : 'answer: ';
    for (;;) {
      const line = await this.#lines.read(prompt, moved, { isFresh: true });
      if (typeof line !== 'string') return;
      const answer = kind === 'confirmation' ? consent(line) : { output: outputOf(line, question.schema) };
      if (answer === undefined) {
        this.#transcript.note('Answer y or n; what follows an n is told as the reason.');
        continue;
      }
      this.#answered.add(callId);
      return this.#try(async () => {
        try {
          await this.#session.respond(question, answer);
        } catch (error) {
          const isOver = isGatewayError(error) && /^(?:ALREADY_ANSWERED|CALL_NOT_FOUND)$/.test(error.code);
          if (!isOver) this.#answered.delete(callId);
          throw error;
        }
      });
    }
  }

  #interrupt(): void {
    const wanted = this.#wanted();
    if (wanted !== 'message') {
      // A second Ctrl+C leaves, because the abort may not reach the gateway.
      if (this.#isAborting) return this.#leave();
      return this.#abort();
    }
    if (this.#lines.drop()) return;
    if (this.#isLeaving) return this.#leave();
    this.#isLeaving = true;
    this.#note('dim', '(Ctrl+C once more, or Ctrl+D, leaves)');
  }

  #abort(): void {
    const runId = this.#state.run?.runId ?? this.#state.queue[0]?.runId;
    if (runId === undefined && this.#sending === undefined) return;
    this.#isAborting = true;
    void this.#try(() =>
      runId === undefined
        ? this.#sending!.abort('stopped by its user')
        : this.#session.abort({ runId, reason: 'stopped by its user' }),
    );
  }

  #note(format: 'dim' | 'yellow' | 'red', text: string): void {
    this.#lines.above(() => this.#transcript.note(styled(format, text)));
  }

  #leave(): void {
    if (this.#over.signal.aborted) return;
    if (this.#failure === undefined && this.#state.run !== null)
      this.#note('dim', '(the answer goes on; chat shows it when you come back)');
    this.#over.abort();
    this.#asking?.moved.abort();
  }

  /** Does work whose failure is printed and does not end the conversation. */
  async #try(work: () => Promise<unknown>): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!this.#over.signal.aborted) this.#note('red', messageOf(error));
    }
  }
}

function keyOf(wanted: Wanted): string {
  return typeof wanted === 'string' ? wanted : `answer to ${wanted.callId}`;
}

function messageOf(error: unknown): string {
  return error instanceof GatewayError ? `${error.message} (${error.code})` : String(error);
}

function consent(line: string): { readonly approved: boolean; readonly reason?: string } | undefined {
  const [, word, reason] = /^\s*(y|yes|n|no)\b[\s,:]*(.*?)\s*$/i.exec(line) ?? [];
  if (word === undefined) return undefined;
  return { approved: /^y/i.test(word), ...(reason && { reason }) };
}

/** Parses an answer as JSON, unless the schema wants a string; text if it is not JSON. */
export function outputOf(line: string, schema: unknown): unknown {
  if ((schema as { type?: unknown } | null | undefined)?.type === 'string') return line;
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}
