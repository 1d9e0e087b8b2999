import { openAsBlob } from 'node:fs';
import { basename } from 'node:path';
import {
  type Client,
  type ContentBlock,
  initialState,
  isGatewayError,
  type OnBusy,
  type PendingQuestion,
  type Run,
  reduce,
} from 'agent-session-gateway/client';
import type { Files } from 'agent-session-gateway/client/files';
import { textOf } from '../../../shared/messages.js';
import { watchConnection } from '../connection.js';
import { brief, styled, type Terminal } from '../terminal.js';
import { consentForm, type Form, inJson, valueForm } from './form.js';
import { openScreen } from './screen.js';
import { Transcript } from './transcript.js';

const HELP = `Ctrl+C stops the answer; twice at an empty line it leaves, as Ctrl+D does. An answer goes on when you leave.
Lines that are pasted are one message, as are lines that end with \\. What you write while an answer goes on is sent, and waits for its end.`;
const SHOWN_BEFORE = 10;
const SPINNER = '⠋⠙⠸⠴⠦⠇';

/**
 * The conversation of a person at a terminal with a session, which others may use at the same time. Resolves when the person leaves, with the session
 * to go to.
 *
 * @throws GatewayError the gateway's refusal of the session
 */
export async function converse(
  client: Client,
  sessionId: string,
  terminal: Terminal,
  files: Files | undefined,
): Promise<string | undefined> {
  const session = client.session(sessionId);
  const over = new AbortController();
  const answered = new Set<string>();
  let state = initialState;
  let asked: { question: PendingQuestion; form: Form; prompt: string; draft: string } | undefined;
  let sending: Run | undefined;
  let attached: ContentBlock[] = [];
  let edited: string | undefined;
  let began = Date.now();
  /** Whether Ctrl+C leaves: one was pressed, and an abort may not reach the gateway. */
  let isLeaving = false;
  let next: string | undefined;
  const screen = openScreen(terminal, { said, interrupted, ended: () => leave() });
  const transcript = new Transcript(screen);
  const words: readonly (readonly [name: string, about: string, run: (rest: string) => unknown])[] = [
    ['/retry', 'has the last message answered again', () => begin(session.regenerate())],
    ['/edit', 'has you write the last message anew', edit],
    ['/attach FILE', 'sends a file with the next message', attach],
    ['/steer TEXT', 'says it to the answer that goes on', (text) => send(text, 'steer')],
    ['/interrupt TEXT', 'ends the answer for this message', (text) => send(text, 'interrupt')],
    ['/sessions', 'lists your sessions', list],
    ['/switch SESSION', 'goes to another session, or to a new one', (id) => leave(id || sessionId)],
    ['/close', 'ends the conversation; the next message begins a new one', () => session.close()],
    ['/exit', 'leaves', () => leave()],
    ['/help', 'shows this', help],
  ];
  const note = (format: 'dim' | 'yellow' | 'red', text: string) => screen.say(styled(format, text));
  const isBusy = () => state.run !== null || state.queue.length > 0 || sending !== undefined;
  const seconds = (digits: number) => `${((Date.now() - began) / 1000).toFixed(digits)} s`;
  const unwatch = watchConnection(client, (text) => note('yellow', text));
  const timer = setInterval(() => isBusy() && show(), 1000);
  try {
    state = await session.state();
    note('dim', `Session ${session.id}. /help tells what keys and words do.`);
    const hidden = state.messages.slice(0, -SHOWN_BEFORE);
    for (const { id } of hidden) transcript.skip(id);
    if (hidden.length > 0 || state.hasMore) note('dim', '(earlier messages are not shown)');
    transcript.show(state);
    show();
    for await (const event of session.events({ from: state.cursor ?? 'earliest', signal: over.signal })) {
      state = reduce(state, event);
      transcript.event(event, state);
      if (event.type === 'message_start') began = Date.now();
      if (event.type === 'message_end' && event.lane === undefined) {
        isLeaving = false;
        const { inputTokens: read, outputTokens: written } = event.usage ?? {};
        note(
          'dim',
          `  ${seconds(1)}${read ? `, ${read} tokens in` : ''}${written ? `, ${written} out` : ''}`,
        );
      }
      show();
    }
  } finally {
    unwatch();
    clearInterval(timer);
    over.abort();
    screen.close();
    session.detach();
  }
  return next;

  /** Shows how things stand, and asks what is to be asked. */
  function show(): void {
    const question = state.pending.find(({ callId }) => !answered.has(callId));
    if (question?.callId !== asked?.question.callId) {
      const draft = asked?.draft ?? screen.draft;
      const { kind, name, message, input, schema } = question ?? {};
      const isConsent = kind === 'confirmation';
      const form = isConsent ? consentForm() : valueForm(schema ?? {});
      asked = question && { question, form, prompt: String(form.next().value), draft };
      if (question) screen.say(styled('bold', `? ${message ?? (isConsent ? `Allow ${name}?` : name)}`));
      if (input !== undefined && !(isConsent && message)) note('dim', `  ${brief(input)}`);
      // Nobody answers a question without reading it.
      screen.draft = question ? '' : draft;
    }
    const works = `${SPINNER[Math.floor(Date.now() / 1000) % 6]} ${seconds(0)}, Ctrl+C stops it`;
    const waiting = state.queue.map(({ message }) => `then: ${brief(textOf(message))}`);
    const added = attached.map((block) => `with ${(block as { name?: string }).name}`);
    screen.show([...(isBusy() ? [works] : []), ...waiting, ...added].join('\n'), asked?.prompt ?? '> ');
  }

  function said(text: string): void {
    isLeaving = false;
    const line = text.trim();
    const [, word, rest = ''] = /^(\/\w*)(?:\s+(.*))?$/s.exec(line) ?? [];
    const known = words.find(([name]) => name.split(' ')[0] === word);
    if (known) void attempt(() => known[2](rest));
    else if (asked) answer(asked, line);
    else if (word) note('yellow', `${word} is not known: /help tells what is. To send it, write /${line}`);
    else if (line !== '') send(line.replace(/^\/\//, '/'));
  }

  function send(text: string, onBusy?: OnBusy): void {
    const input = attached.length === 0 ? text : [{ type: 'text' as const, text }, ...attached];
    begin(session.send(input, { onBusy, replaces: edited }));
    attached = [];
    edited = undefined;
  }

  function begin(run: Run): void {
    if (!isBusy()) began = Date.now();
    sending = run;
    show();
    const sent = run.accepted.catch((error: unknown) => note('red', `Not sent: ${messageOf(error)}`));
    void sent.then(() => {
      if (sending === run) sending = undefined;
      show();
    });
  }

  function answer(to: NonNullable<typeof asked>, line: string): void {
    const { question, form } = to;
    const isInput = question.kind === 'input';
    // All fields may be given at once.
    const whole = isInput && line.startsWith('{') ? inJson(line) : undefined;
    const { value, done } = whole ? { value: whole, done: true } : form.next(line);
    if (done) {
      answered.add(question.callId);
      void attempt(() =>
        session.respond(question, isInput ? { output: value } : (value as object)).catch((error: unknown) => {
          const isOver = isGatewayError(error) && /^(?:ALREADY_ANSWERED|CALL_NOT_FOUND)$/.test(error.code);
          if (!isOver) answered.delete(question.callId);
          throw error;
        }),
      );
    } else to.prompt = String(value);
    show();
  }

  function interrupted(): void {
    if (isLeaving) return leave();
    isLeaving = isBusy() || screen.draft === '';
    if (isBusy()) {
      const runId = state.run?.runId ?? state.queue[0]?.runId;
      const reason = 'stopped by its user';
      void attempt(() => (runId === undefined ? sending?.abort(reason) : session.abort({ runId, reason })));
    } else if (isLeaving) note('dim', '(Ctrl+C once more, or Ctrl+D, leaves)');
    else {
      edited = undefined;
      screen.draft = '';
    }
  }

  function edit(): void {
    const last = state.messages.findLast(({ role }) => role === 'user');
    edited = last?.id;
    if (last) screen.draft = textOf(last);
  }

  async function attach(path: string): Promise<void> {
    const name = basename(path);
    if (!files) return note('yellow', 'Files go by a URL, not by a socket');
    const { fileId, mediaType } = await files.upload(await openAsBlob(path), { name });
    const [type = 'file'] = /^(?:image|audio)(?=\/)/.exec(mediaType) ?? [];
    attached.push({ type: type as 'file', fileId, mediaType, name });
    show();
  }

  async function list(): Promise<void> {
    for (const { sessionId: id, status, title, preview } of (await client.sessions()).sessions)
      screen.say(styled('bold', id), ` ${title ?? preview ?? ''} `, styled('dim', status));
  }

  function help(): void {
    screen.say([HELP, ...words.map(([name, about]) => `${name.padEnd(16)} ${about}`)].join('\n'));
  }

  function leave(to?: string): void {
    if (over.signal.aborted) return;
    next = to;
    if (state.run !== null) note('dim', '(the answer goes on; chat shows it when you come back)');
    over.abort();
  }

  /** Does work whose failure is told and does not end the conversation. */
  async function attempt(work: () => unknown): Promise<void> {
    try {
      await work();
    } catch (error) {
      if (!over.signal.aborted) note('red', messageOf(error));
    }
  }
}

function messageOf(error: unknown): string {
  return isGatewayError(error) ? `${error.message} (${error.code})` : (error as Error).message;
}
