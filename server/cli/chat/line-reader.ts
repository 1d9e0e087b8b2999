import { clearLine, createInterface, cursorTo } from 'node:readline';
import { Writable } from 'node:stream';
import { printable, type Terminal } from '../terminal.js';

/** Reads lines from a person. Text typed without a prompt is not shown, so that it does not mix with the output; the next prompt gets it. */
export interface LineReader {
  /**
   * Asks for a line. Null at the end of the input (Ctrl+D). Undefined after an abort, which also removes the prompt.
   *
   * @param isFresh Drops text that was typed before, because nobody answers a question without reading it.
   */
  read(
    prompt: string,
    signal: AbortSignal,
    options?: { readonly isFresh: boolean },
  ): Promise<string | null | undefined>;
  /** Calls a function that writes above the prompt. */
  above(write: () => void): void;
  /** Empties the line. Returns whether it had any text. */
  drop(): boolean;
  close(): void;
}

/** Have the terminal mark what is pasted, and no longer do so. */
const PASTES_MARKED = '\x1b[?2004h';
const PASTES_PLAIN = '\x1b[?2004l';

/** Reads lines from a terminal. @param on Listeners for Ctrl+C, and for the end of the input (Ctrl+D). */
export function readLines(
  { input, output }: Terminal,
  on: { readonly interrupted: () => void; readonly ended: () => void },
): LineReader {
  let isAsking = false;
  let isClosed = false;
  let take: ((line: string | null) => void) | undefined;
  const typedAhead: string[] = [];
  const screen = new Writable({
    write: (chunk, _encoding, done) => {
      if (isAsking) output.write(chunk);
      done();
    },
  });
  // Wrap long lines at the width of the terminal.
  Object.defineProperty(screen, 'columns', { get: () => output.columns });
  const lines = createInterface({ input, output: screen, terminal: true });
  // A terminal that is asked to marks what is pasted: its lines are one text, which the next Enter ends.
  let isPasting = false;
  let pasted = '';
  const onKey = (_text: string | undefined, { name }: { name?: string }) => {
    if (name === 'paste-start' || name === 'paste-end') isPasting = name === 'paste-start';
  };
  input.on('keypress', onKey);
  output.write(PASTES_MARKED);
  lines.on('line', (typed) => {
    const isOpen = isPasting || typed.endsWith('\\');
    const line = pasted + (isOpen && !isPasting ? typed.slice(0, -1) : typed);
    pasted = isOpen ? `${line}\n` : '';
    if (isOpen) return;
    // Several lines may come at once.
    const taken = take;
    take = undefined;
    isAsking = false;
    if (taken) taken(line);
    else typedAhead.push(line);
  });
  lines.on('SIGINT', on.interrupted);
  lines.once('close', () => {
    isClosed = true;
    input.off('keypress', onKey);
    output.write(PASTES_PLAIN);
    take?.(null);
    on.ended();
  });

  const clear = () => {
    cursorTo(output, 0);
    clearLine(output, 0);
  };
  const drop = () => {
    const had = lines.line !== '' || pasted !== '';
    pasted = '';
    if (!isClosed && had) {
      lines.write(null, { ctrl: true, name: 'e' });
      lines.write(null, { ctrl: true, name: 'u' });
    }
    return had;
  };
  const ask = (signal: AbortSignal) =>
    new Promise<string | null | undefined>((resolve) => {
      take = resolve;
      const moved = () => {
        clear();
        isAsking = false;
        resolve(undefined);
      };
      signal.addEventListener('abort', moved, { once: true });
    });
  return {
    drop,
    above: (write) => {
      if (isAsking) clear();
      write();
      if (isAsking) lines.prompt(true);
    },
    read: async (prompt, signal, { isFresh } = { isFresh: false }) => {
      if (isFresh) {
        typedAhead.length = 0;
        drop();
      }
      if (isClosed) return null;
      if (signal.aborted) return undefined;
      const ahead = typedAhead.shift();
      if (ahead !== undefined) {
        output.write(`${prompt}${printable(ahead)}\n`);
        return ahead;
      }
      isAsking = true;
      lines.setPrompt(prompt);
      lines.prompt(true);
      const answer = await ask(signal);
      take = undefined;
      isAsking = false;
      if (answer === null) output.write('\n');
      return answer;
    },
    close: () => lines.close(),
  };
}
