import { createReadStream } from 'node:fs';
import { GatewayError } from 'agent-session-gateway/client';
import { Command } from 'commander';
import type { CopyLine } from '../../copies/lines.js';
import { verifyStore } from '../../copies/verify-store.js';
import { writeCopy } from '../../copies/write-store.js';
import type { OperatorDatabase } from '../operator/ask-operator.js';
import { linesOf } from '../operator/lines.js';
import { openedStore } from '../operator/whole-store.js';
import { EXIT_DIFFERENT, type Terminal } from '../terminal.js';
import { withDatabase } from './data.js';

/** `import`: writes a copy of a whole store into another one. */
export function importCommand(terminal: Terminal): Command {
  return withDatabase(new Command('import'), false)
    .description(
      'write all sessions of `export --all` into a store that no gateway uses; again after a break, it goes on',
    )
    .argument('[file]', 'the copy (default: what comes in)')
    .requiredOption('--all', 'it is meant: everything of the copy')
    .action(async (file: string | undefined, { db }: OperatorDatabase) => {
      const store = await openedStore(db, true);
      try {
        const bytes = file === undefined ? terminal.input : createReadStream(file);
        const counts = await writeCopy(store, parsed(linesOf(withEnd(bytes.setEncoding('utf8')))));
        terminal.say(JSON.stringify(counts));
      } finally {
        await store.close();
      }
    });
}

/** `verify`: reads a whole store, and says whether its parts fit together. */
export function verifyCommand(terminal: Terminal): Command {
  return withDatabase(new Command('verify'), false)
    .description('read all that a database has, fold each conversation, and say counts and a checksum')
    .addHelpText(
      'after',
      '\nThe checksum is that of `export --all`, of `import --all` and of every copy with the same contents. Ends with 1 if parts do not fit together.',
    )
    .action(async ({ db }: OperatorDatabase) => {
      const store = await openedStore(db);
      try {
        const { faults, ...counts } = await verifyStore(store);
        for (const fault of faults) terminal.warn(fault);
        terminal.say(JSON.stringify(counts));
        terminal.exit(faults.length === 0 ? 0 : EXIT_DIFFERENT);
      } finally {
        await store.close();
      }
    });
}

/** The last line of a file may have no end. */
async function* withEnd(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  yield* pieces;
  yield '\n';
}

async function* parsed(lines: AsyncIterable<string>): AsyncGenerator<CopyLine> {
  let number = 0;
  for await (const line of lines) {
    number += 1;
    if (line === '') continue;
    try {
      yield JSON.parse(line) as CopyLine;
    } catch {
      throw refused(`Line ${number} of the copy is no JSON: it was broken off or changed`);
    }
  }
}

function refused(message: string): GatewayError {
  return new GatewayError({ code: 'INVALID_REQUEST', message });
}
