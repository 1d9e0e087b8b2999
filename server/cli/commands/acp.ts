import { Readable, Writable } from 'node:stream';
import { Command } from 'commander';
import { Acp } from '../acp/agent.js';
import { loadAcpSdk } from '../acp/sdk.js';
import { type CommandConnection, checkGateway, withClient, withConnection } from '../connection.js';
import type { Terminal } from '../terminal.js';

interface AcpCommandOptions extends CommandConnection {
  readonly app?: string;
}

/** `acp`: connects an editor to the apps of a gateway, over the input and output of this process. */
export function acpCommand(terminal: Terminal): Command {
  return withConnection(new Command('acp'))
    .description('serve a running gateway to an editor that speaks the Agent Client Protocol')
    .option('--app <name>', "the app of sessions that the editor begins (default: the gateway's default app)")
    .action((options: AcpCommandOptions) => serve(options, terminal));
}

async function serve({ app, ...options }: AcpCommandOptions, { input, output }: Terminal): Promise<void> {
  const sdk = await loadAcpSdk();
  await withClient(options, async (client) => {
    await checkGateway(client);
    const stream = sdk.ndJsonStream(
      Writable.toWeb(output) as WritableStream<Uint8Array>,
      Readable.toWeb(input) as ReadableStream<Uint8Array>,
    );
    const connection = new Acp(sdk, { client, app }).agent().connect(stream);
    // Runs continue without the editor, which can load them again.
    await connection.closed;
  });
}
