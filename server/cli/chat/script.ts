import { createInterface } from 'node:readline';
import { type Client, GatewayError, type Run, type StopReason } from 'agent-session-gateway/client';
import { EXIT_DIFFERENT, EXIT_INTERRUPTED, EXIT_WAITING, styled, type Terminal } from '../terminal.js';
import { Transcript } from './transcript.js';
import { watchConnection } from './watch-connection.js';

/** Options of a conversation that a script holds. */
export interface ScriptOptions {
  /** Messages to send, one after the other. @default the lines of the input */
  readonly messages?: readonly string[] | undefined;
  /** Writes each event as a line of JSON, in place of text. */
  readonly json: boolean;
  /** The answer to confirmations. Questions need a person. @default no answer: confirmations wait for somebody */
  readonly confirm?: 'approve' | 'deny' | undefined;
}

/**
 * Sends messages one after the other, each after the end of the former answer, and writes the answers. Stops after an answer that did not end by
 * itself.
 *
 * @returns the exit code
 */
export async function runScript(
  client: Client,
  sessionId: string,
  terminal: Terminal,
  options: ScriptOptions,
): Promise<number> {
  const unwatch = watchConnection(client, (text) => terminal.warn(styled('yellow', text)));
  try {
    for await (const text of options.messages ?? linesOf(terminal)) {
      if (text.trim() === '') continue;
      const code = await sendOne(client, client.session(sessionId).send(text), sessionId, terminal, options);
      if (code !== 0) return code;
    }
    return 0;
  } finally {
    unwatch();
  }
}

/** Says what a message waits for that stands behind others. */
async function tellOfEarlier(client: Client, sessionId: string, terminal: Terminal): Promise<void> {
  const { pending } = await client.session(sessionId).state();
  const names = pending.map(({ name }) => name).join(', ');
  const reason =
    names && `, which waits for an answer to ${names}: run \`chat ${sessionId}\` on a terminal to give it`;
  terminal.warn(`The message waits behind an earlier run${reason}`);
}

async function sendOne(
  client: Client,
  run: Run,
  sessionId: string,
  terminal: Terminal,
  { json, confirm }: ScriptOptions,
): Promise<number> {
  const transcript = new Transcript(terminal);
  transcript.typed(run.idempotencyKey);
  let interrupts = 0;
  const interrupt = () => {
    interrupts += 1;
    // The first Ctrl+C aborts the run and waits for its end; the second exits at once.
    if (interrupts > 1) process.exit(EXIT_INTERRUPTED);
    run.abort('stopped by its user').catch(() => {});
  };
  process.on('SIGINT', interrupt);
  try {
    // Report a refused message as an error, not as an empty answer.
    const { position } = await run.accepted;
    if (position > 0) await tellOfEarlier(client, sessionId, terminal);
    for await (const event of run) {
      if (json) terminal.say(JSON.stringify(event));
      else transcript.event(event);
      if (event.type === 'tool_confirmation_required' && confirm !== undefined) {
        const answer = { approved: confirm === 'approve' };
        await client.session(sessionId).respond(event.callId, answer).catch(unlessAnswered);
      } else if (event.type === 'tool_confirmation_required' || event.type === 'input_required') {
        const flags = event.type === 'input_required' ? '' : ', or give --approve or --deny';
        terminal.warn(`${event.name} waits for an answer: run \`chat ${sessionId}\` on a terminal${flags}`);
        return EXIT_WAITING;
      }
    }
    const { stopReason } = await run.result;
    return interrupts > 0 ? EXIT_INTERRUPTED : codeOf(stopReason);
  } finally {
    process.off('SIGINT', interrupt);
  }
}

/** The exit code for a stop reason. */
function codeOf(stopReason: StopReason): number {
  return stopReason === 'end' ? 0 : EXIT_DIFFERENT;
}

/** Ignores that somebody else answered first. */
function unlessAnswered(error: unknown): void {
  if (error instanceof GatewayError && error.code === 'ALREADY_ANSWERED') return;
  throw error;
}

function linesOf({ input }: Terminal): AsyncIterable<string> {
  return createInterface({ input, terminal: false });
}
