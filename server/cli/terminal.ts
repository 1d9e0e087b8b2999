/** What `--check` found differs. */
export const EXIT_DIFFERENT = 1;
/** The command could not do its work. */
export const EXIT_FAILED = 2;

/** Where a command says what it did. */
export interface Terminal {
  say(line: string): void;
  warn(line: string): void;
  /** The code the process ends with. */
  exit(code: number): void;
}

/** The process's own streams. */
export const processTerminal: Terminal = {
  say: (line) => void process.stdout.write(`${printable(line)}\n`),
  warn: (line) => void process.stderr.write(`${printable(line)}\n`),
  exit: (code) => {
    process.exitCode = code;
  },
};

/** Names and messages come from servers: none may steer the terminal. */
function printable(line: string): string {
  return line.replace(/(?![\n\t])[\p{Cc}\p{Bidi_Control}]/gu, '?');
}
