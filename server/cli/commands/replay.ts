import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Command } from 'commander';
import { appOf, findExported } from '../serve/exported.js';
import { findFile, loadFile } from '../serve/load-file.js';
import { EXIT_DIFFERENT, styled, type Terminal } from '../terminal.js';

interface ReplayCommandOptions {
  readonly app?: string;
  readonly name?: string;
  readonly answersMayDiffer?: true;
  readonly json?: true;
}

/** `replay`: runs recorded sessions against the present app. */
export function replayCommand(terminal: Terminal): Command {
  return new Command('replay')
    .description('run recorded sessions against your app as it is now, and show where it parts from them')
    .argument('<records...>', 'files that the recorder wrote')
    .option('--app <file>', 'the file of the app; by default it is looked for as `dev` does')
    .option('--name <name>', 'which of the apps of that file')
    .option('--answers-may-differ', 'as long as it asks for the same, it may say it in other words')
    .option('--json', 'write each result as a line of JSON')
    .addHelpText(
      'after',
      '\nExit codes: 0 all went as recorded; 1 something did not; 2 it could not be tried.',
    )
    .action((records: readonly string[], options: ReplayCommandOptions) =>
      replay(records, options, terminal),
    );
}

async function replay(
  records: readonly string[],
  options: ReplayCommandOptions,
  terminal: Terminal,
): Promise<void> {
  const { answersMayDiffer, json, app: named, name } = options;
  const path = findFile(named);
  const app = appOf(findExported(await loadFile(path), path), name, path);
  const { replaySession } = await import('agent-session-gateway/testing');
  let different = 0;
  for (const file of records) {
    const record = await readFile(resolve(file), 'utf8');
    const { turns, divergence } = await replaySession({
      record,
      app,
      ...(answersMayDiffer && { answersMayDiffer }),
    });
    if (divergence) different += 1;
    if (json) terminal.say(JSON.stringify({ file, turns, divergence }));
    else if (!divergence) terminal.say(styled('green', 'same'), ` ${file}: ${turns} turns`);
    else {
      const { turn, message, step, call, text } = divergence;
      const where = call === undefined ? step : `${step} (call ${call})`;
      terminal.say(
        styled('red', 'different'),
        ` ${file}: turn ${turn}, ${where}, at ${JSON.stringify(message)}`,
      );
      for (const line of text.split('\n')) terminal.say(line);
    }
  }
  if (different > 0) terminal.exit(EXIT_DIFFERENT);
}
