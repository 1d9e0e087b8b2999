import { createInterface } from 'node:readline';
import { type Client, initialState, isGatewayError, reduce } from 'agent-session-gateway/client';
import { watchConnection } from '../connection.js';
import { EXIT_DIFFERENT, EXIT_INTERRUPTED, EXIT_WAITING, styled, type Terminal } from '../terminal.js';
import { type Page, Transcript } from './transcript.js';

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
 * Sends messages, each after the end of the former answer, and writes the answers. Stops after one that did not end by itself.
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
    const lines = options.messages ?? createInterface({ input: terminal.input, terminal: false });
    for await (const text of lines) {
      const code = text.trim() === '' ? 0 : await sendOne(client, sessionId, text, terminal, options);
      if (code !== 0) return code;
    }
    return 0;
  } finally {
    unwatch();
  }
}

async function sendOne(
  client: Client,
  sessionId: string,
  text: string,
  terminal: Terminal,
  { json, confirm }: ScriptOptions,
): Promise<number> {
  const session = client.session(sessionId);
  const run = session.send(text);
  const transcript = new Transcript(pageOf(terminal));
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
    const { position, runId, message } = await run.accepted;
    if (position > 0) {
      const names = (await session.state()).pending.map(({ name }) => name).join(', ');
      const reason =
        names &&
        `, which waits for an answer to ${names}: run \`chat ${sessionId}\` on a terminal to give it`;
      terminal.warn(`The message waits behind an earlier run${reason}`);
    }
    let state = initialState;
    for await (const event of run) {
      state = reduce(state, event);
      const messages = state.messages.filter(({ parentId }) => parentId === message.id);
      if (json) terminal.say(JSON.stringify(event));
      else transcript.event(event, { messages, run: state.run?.runId === runId ? state.run : null });
      const isConsent = event.type === 'tool_confirmation_required';
      if (!isConsent && event.type !== 'input_required') continue;
      if (!isConsent || confirm === undefined) {
        const flags = isConsent ? ', or give --approve or --deny' : '';
        terminal.warn(`${event.name} waits for an answer: run \`chat ${sessionId}\` on a terminal${flags}`);
        return EXIT_WAITING;
      }
      await session.respond(event, { approved: confirm === 'approve' }).catch((error: unknown) => {
        // Somebody else may be first.
        if (!isGatewayError(error) || error.code !== 'ALREADY_ANSWERED') throw error;
      });
    }
    const { stopReason } = await run.result;
    return interrupts > 0 ? EXIT_INTERRUPTED : stopReason === 'end' ? 0 : EXIT_DIFFERENT;
  } finally {
    process.off('SIGINT', interrupt);
  }
}

/** The output as it is, for others to read: text goes out as it comes. */
function pageOf(terminal: Terminal): Page {
  let isMidLine = false;
  return {
    say: (...line) => {
      if (isMidLine) terminal.write('\n');
      isMidLine = false;
      if (line.length > 0) terminal.say(...line);
    },
    piece: (text, isReasoning) => {
      terminal.write(isReasoning ? styled('dim', text) : text);
      isMidLine = !text.endsWith('\n');
    },
  };
}
