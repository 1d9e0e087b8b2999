import { clearScreenDown, cursorTo } from 'node:readline';
import type { ReadStream, WriteStream } from 'node:tty';
import { styleText } from 'node:util';
import { cut, shown } from '../../shared/cut.js';

/** The command did its work with a negative outcome: a file is out of date, a check found a fault, a run did not end by itself. */
export const EXIT_DIFFERENT = 1;
/** The command could not do its work. */
export const EXIT_FAILED = 2;
/** The run waits for a person, and nobody was there to answer. */
export const EXIT_WAITING = 3;
/** Ended by Ctrl+C, by the convention of shells: 128 plus the number of the signal. */
export const EXIT_INTERRUPTED = 130;

type Format = Parameters<typeof styleText>[0];

/** A piece of a line. Styles are ignored on a terminal without colours. */
export type LinePart = string | { readonly format: Format; readonly text: string };

export function styled(format: Format | readonly string[], text: string): LinePart {
  return { format: format as Format, text };
}

/** The output and input of a command. */
export interface Terminal {
  /** Writes a line of the output. */
  say(...line: readonly LinePart[]): void;
  /** Writes a line for the person who looks on. */
  warn(...line: readonly LinePart[]): void;
  /** Writes a piece of the output, without a line end. */
  write(...parts: readonly LinePart[]): void;
  /** Empties the screen. */
  clear(): void;
  /** Sets the exit code of the process. */
  exit(code: number): void;
  readonly input: NodeJS.ReadStream;
  readonly output: NodeJS.WriteStream;
  /** Whether a person is there: input and output are a terminal. */
  readonly isInteractive: boolean;
}

/** The process's own streams. */
export const processTerminal: Terminal = {
  say: (...line) => put(process.stdout, line, '\n'),
  warn: (...line) => put(process.stderr, line, '\n'),
  write: (...parts) => put(process.stdout, parts, ''),
  clear: () => {
    cursorTo(process.stdout, 0, 0);
    clearScreenDown(process.stdout);
  },
  exit: (code) => {
    process.exitCode = code;
  },
  get input() {
    return process.stdin as ReadStream;
  },
  get output() {
    return process.stdout as WriteStream;
  },
  get isInteractive() {
    return process.stdin.isTTY === true && process.stdout.isTTY === true;
  },
};

function put(stream: NodeJS.WriteStream, parts: readonly LinePart[], end: string): void {
  stream.write(`${painted(stream, parts)}${end}`);
}

/** A line as a stream shows it: with styles, if it has colours. */
export function painted(stream: NodeJS.WriteStream, parts: readonly LinePart[]): string {
  // `hasColors` of a terminal already respects NO_COLOR and TERM.
  const hasColors = stream.isTTY === true && stream.hasColors();
  const text = parts.map((part) => {
    if (typeof part === 'string') return shown(part);
    return hasColors ? styleText(part.format, shown(part.text), { validateStream: false }) : shown(part.text);
  });
  return text.join('');
}

/** Longest shown text of a value, in characters. */
const SHOWN = 200;

/** A value as one line. */
export function brief(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return cut(text.replace(/\s+/g, ' '), SHOWN, '…');
}
