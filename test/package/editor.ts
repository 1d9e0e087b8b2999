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

/** What the server of an editor answers about places in a file. */
async function answers(
  file: string,
  asked: 'definition' | 'quickinfo',
  places: readonly Place[],
): Promise<any[]> {
  const server = spawn(process.execPath, [
    join(ROOT, 'test/node_modules/typescript5/lib/tsserver.js'),
    '--disableAutomaticTypingAcquisition',
  ]);
  try {
    const lines = createInterface({ input: server.stdout });
    const ask = (seq: number, command: string, argument: object): void =>
      void server.stdin.write(`${JSON.stringify({ seq, type: 'request', command, arguments: argument })}\n`);
    ask(0, 'open', { file });
    for (const [at, place] of places.entries()) ask(at + 1, asked, { file, ...place });
    const found: any[] = [];
    for await (const line of lines) {
      if (!line.startsWith('{')) continue;
      const { command, body } = JSON.parse(line);
      if (command !== asked) continue;
      found.push(body);
      if (found.length === places.length) break;
    }
    return found;
  } finally {
    server.kill();
  }
}

/** Where an editor goes from names in a file: the first definition of each, with the text of its line. */
export async function definitions(
  file: string,
  places: readonly Place[],
): Promise<{ readonly file: string; readonly text: string }[]> {
  const found = await answers(file, 'definition', places);
  return found.map(([first] = []) => ({
    file: first?.file,
    text: first && readFileSync(first.file, 'utf8').split('\n')[first.start.line - 1],
  }));
}

/** What an editor shows of names in a file: their types. */
export async function hovers(file: string, places: readonly Place[]): Promise<string[]> {
  const found = await answers(file, 'quickinfo', places);
  return found.map((body) => body?.displayString);
}
