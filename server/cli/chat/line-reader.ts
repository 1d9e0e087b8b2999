import { clearLine, createInterface, cursorTo } from 'node:readline';
import { Writable } from 'node:stream';
import { printable, type Terminal } from '../terminal.js';

/**
 * Reads lines from a person. What is typed while nothing is asked is not shown, so that it does not run into what is being written; it
 * is there when the next message is asked for.
 */
export interface LineReader {
  /**
   * Asks for a line. Null at the end of the input (Ctrl+D); undefined when the signal has aborted, and then the prompt is gone.
   *
   * @param isFresh Whether what was typed before is dropped: nobody answers a question that was not read.
   */
  read(
    prompt: string,
    signal: AbortSignal,
    options?: { readonly isFresh: boolean },
  ): Promise<string | null | undefined>;
  /** Has something written above the line that is being asked for. */
  above(write: () => void): void;
  /** Empties the line. Returns whether something stood in it. */
  drop(): boolean;
  close(): void;
}

/** @param on What happens at Ctrl+C, and when the input has ended (Ctrl+D). */
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
  // Long lines are wrapped where the terminal's are.
  Object.defineProperty(screen, 'columns', { get: () => output.columns });
  const lines = createInterface({ input, output: screen, terminal: true });
  lines.on('line', (line) => {
    // Several lines may come at once, as when they are pasted.
    const taken = take;
    take = undefined;
    isAsking = false;
    if (taken) taken(line);
    else typedAhead.push(line);
  });
  lines.on('SIGINT', on.interrupted);
  lines.once('close', () => {
    isClosed = true;
    take?.(null);
    on.ended();
  });

  const clear = () => {
    cursorTo(output, 0);
    clearLine(output, 0);
  };
  const drop = () => {
    const had = lines.line !== '';
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
