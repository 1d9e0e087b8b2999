import { Command, Option } from 'commander';
import { converse } from '../chat/conversation.js';
import { runScript } from '../chat/script.js';
import {
  type CommandConnection,
  checkGateway,
  openFiles,
  withClient,
  withConnection,
} from '../connection.js';
import type { Terminal } from '../terminal.js';

interface ChatOptions extends CommandConnection {
  readonly message?: readonly string[];
  readonly json?: true;
  readonly approve?: true;
  readonly deny?: true;
}

const CODES = `
Exit codes: 0 the answer ended by itself, or you left; 1 it ended otherwise (aborted, error, lost, …); 2 it could not be asked;
3 it waits for somebody's answer; 130 stopped by Ctrl+C.`;

/** `chat`: a conversation on a terminal, or with `--message` or piped input one for scripts. */
export function chatCommand(terminal: Terminal): Command {
  return withConnection(new Command('chat'))
    .description('talk to an app of a running gateway')
    .argument('[session]', 'the session, as name or app:name', 'main')
    .option(
      '-m, --message <text...>',
      'send this and end with its answer; several are sent one after the other',
    )
    .option('--json', 'write events as lines of JSON')
    .addOption(new Option('--approve', 'approve what asks for a confirmation').conflicts('deny'))
    .option('--deny', 'deny what asks for a confirmation')
    .addHelpText('after', CODES)
    .action((session: string, options: ChatOptions) => chat(session, options, terminal));
}

async function chat(session: string, options: ChatOptions, terminal: Terminal): Promise<void> {
  const { message: messages, json = false, approve, deny } = options;
  await withClient(options, async (client) => {
    await checkGateway(client);
    const isScript = messages !== undefined || json || approve || deny || !terminal.isInteractive;
    for (let next: string | undefined = session; !isScript && next !== undefined; )
      next = await converse(client, next, terminal, openFiles(options));
    if (!isScript) return;
    const confirm = approve ? 'approve' : deny ? 'deny' : undefined;
    terminal.exit(await runScript(client, session, terminal, { messages, json, confirm }));
  });
}
