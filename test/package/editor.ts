import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { ROOT } from '../support/program.js';

/** A place in a file, as editors count: from 1. */
export interface Place {
  readonly line: number;
  readonly offset: number;
}

/** Where an editor goes from names in a file: the first definition of each, with the text of its line. */
export async function definitions(
  file: string,
  places: readonly Place[],
): Promise<{ readonly file: string; readonly text: string }[]> {
  const server = spawn(process.execPath, [
    join(ROOT, 'test/node_modules/typescript5/lib/tsserver.js'),
    '--disableAutomaticTypingAcquisition',
  ]);
  try {
    const answers = createInterface({ input: server.stdout });
    const ask = (seq: number, command: string, argument: object): void =>
      void server.stdin.write(`${JSON.stringify({ seq, type: 'request', command, arguments: argument })}\n`);
    ask(0, 'open', { file });
    for (const [at, place] of places.entries()) ask(at + 1, 'definition', { file, ...place });
    const found: { file: string; text: string }[] = [];
    for await (const line of answers) {
      if (!line.startsWith('{')) continue;
      const { command, body } = JSON.parse(line);
      if (command !== 'definition') continue;
      const [first] = body ?? [];
      found.push({
        file: first?.file,
        text: first && readFileSync(first.file, 'utf8').split('\n')[first.start.line - 1],
      });
      if (found.length === places.length) break;
    }
    return found;
  } finally {
    server.kill();
  }
}
