import { clearScreenDown, createInterface, cursorTo, type Interface, moveCursor } from 'node:readline';
import { cut } from '../../../shared/cut.js';
import { painted, styled, type Terminal } from '../terminal.js';
import { isFence, setLine } from './markdown.js';
import type { Page } from './transcript.js';

/** A terminal where a person may write at any time, below what is said. */
export interface Screen extends Page {
  /** The text that is written and not yet entered. */
  draft: string;
  /** Shows how things stand and what is asked for, above the text that is written. */
  show(status: string, prompt: string): void;
  close(): void;
}

interface ScreenListeners {
  readonly said: (text: string) => void;
  readonly interrupted: () => void;
  readonly ended: () => void;
}

/** Opens a screen. Its changing part, above the line that is written, is in readline's prompt, so that readline counts its rows. */
export function openScreen({ input, output, say }: Terminal, on: ScreenListeners): Screen {
  const lines = createInterface({ input, output, terminal: true }) as Interface & { prevRows: number };
  let shown: readonly [status: string, prompt: string] = ['', ''];
  /** The line of an answer that has no end yet. */
  let growing = '';
  let [isReasoning, isCode, isPasting, isClosed] = [false, false, false, false];

  const set = (line: string) => (isReasoning ? [styled('dim', line)] : setLine(line, isCode));
  const put = (line: string) => {
    say(...set(line));
    if (!isReasoning && isFence(line)) isCode = !isCode;
  };
  const edit = (line: string, cursor = line.length) => Object.assign(lines, { line, cursor });
  /** Writes above what changes, and shows that anew. */
  const paint = (write = () => {}) => {
    if (isClosed) return write();
    moveCursor(output, 0, -lines.getCursorPos().rows);
    cursorTo(output, 0);
    clearScreenDown(output);
    write();
    const [status, prompt] = shown;
    // Too long a line cannot be painted again: it is shown whole at its end.
    const room = (output.columns * output.rows) / 2 || Number.POSITIVE_INFINITY;
    const above = growing && [...set(growing.slice(-room)), '\n'];
    lines.setPrompt(painted(output, [...above, styled('dim', status && `${status}\n`), prompt]));
    // Node itself loses count of the rows above the cursor where several letters come at once.
    lines.prevRows = 0;
    lines.prompt(true);
  };
  const pressed = (_text: unknown, key: { name?: string; ctrl: boolean }) => {
    const { line, cursor } = lines;
    if (key.name?.startsWith('paste-')) isPasting = key.name === 'paste-start';
    if (!/^(?:return|enter)$/.test(key.name ?? '') || !(isPasting || line.endsWith('\\'))) return;
    const before = isPasting ? cut(line, cursor) : line.replace(/.$/s, '');
    paint(() => edit(`${before}\n${isPasting ? line.slice(cursor) : ''}`, before.length + 1));
    // Readline, which listens after this, does nothing at such a key.
    Object.assign(key, { name: 'none', ctrl: true });
  };
  input.prependListener('keypress', pressed);
  // Have the terminal mark what is pasted.
  output.write('\x1b[?2004h');
  lines.on('line', (line) => {
    // Readline has gone to the row below. The line is shown again where it is said.
    edit(line);
    moveCursor(output, 0, -1);
    paint(() => edit(''));
    on.said(line);
  });
  lines.on('SIGINT', on.interrupted);
  lines.once('close', () => {
    isClosed = true;
    input.off('keypress', pressed);
    output.write('\n\x1b[?2004l');
    on.ended();
  });

  return {
    get draft() {
      return lines.line;
    },
    set draft(text) {
      paint(() => edit(text));
    },
    show: (...next) => {
      if (`${shown}` === `${next}`) return;
      shown = next;
      paint();
    },
    say: (...line) =>
      paint(() => {
        if (growing !== '') put(growing);
        growing = '';
        if (line.length > 0) say(...line);
      }),
    piece: (text, isThought) =>
      paint(() => {
        isReasoning = isThought;
        const all = `${growing}${text}`.split('\n');
        growing = all.pop()!;
        all.forEach(put);
      }),
    close: () => lines.close(),
  };
}
