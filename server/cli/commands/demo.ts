import { Command, Option } from 'commander';
import type { DemoSettings } from '../../demo/settings.js';
import { stopOnSignals } from '../../runtime/stop-on-signals.js';
import { portOf } from '../port-of.js';
import type { DemoStarted, DemoWorkerOptions } from '../serve/demo-worker.js';
import { Supervisor } from '../serve/supervisor.js';
import { EXIT_FAILED, type Terminal } from '../terminal.js';

interface DemoCommandOptions {
  readonly port?: number;
  readonly host?: string;
  readonly db: string;
  readonly files?: string;
}

/** `demo`: the built-in app on a gateway of its own, without a key, a model or a network. */
export function demoCommand(terminal: Terminal): Command {
  return new Command('demo')
    .description('run a gateway with a built-in app: a story, a tool, a confirmation; no model, no key')
    .addOption(
      new Option('--port <port>', 'the port to listen on (default: 18789)').env('PORT').argParser(portOf),
    )
    .addOption(new Option('--host <host>', 'the address to listen on (default: 127.0.0.1)').env('HOST'))
    .addOption(
      new Option(
        '--db <place>',
        'where sessions are kept: a file, a URL of Redis or PostgreSQL, which gateways share; `memory` keeps none',
      )
        .default('memory')
        .env('GATEWAY_DB'),
    )
    .addOption(
      new Option('--files <folder>', 'where uploaded files are kept (default: beside the database)').env(
        'GATEWAY_FILES',
      ),
    )
    .addHelpText(
      'after',
      '\nGATEWAY_TOKEN sets the token that is otherwise made up. With OPENAI_BASE_URL and OPENAI_MODEL (and OPENAI_API_KEY) that endpoint answers.',
    )
    .action((options: DemoCommandOptions) => demo(options, terminal));
}

async function demo({ port, host, db, files }: DemoCommandOptions, terminal: Terminal): Promise<void> {
  const env = { ...process.env, GATEWAY_DB: db, GATEWAY_FILES: files, HOST: host, PORT: port?.toString() };
  const command = 'npx agent-session-gateway demo';
  // Imported here, so that other commands do not load the gateway.
  if (db === 'memory') {
    const { runDemo } = await import('../../demo/run-demo.js');
    const { say, warn } = terminal;
    return runDemo(env, { say, warn, command });
  }
  const { readSettings } = await import('../../demo/settings.js');
  await runKillable(readSettings(env), command, terminal);
}

/** Serves in a child process, so that the page can have it killed and started again without loss of stored data. */
async function runKillable(given: DemoSettings, command: string, terminal: Terminal): Promise<void> {
  let settings = given;
  let isAgain = false;
  const options = (): DemoWorkerOptions => ({ settings, command, isAgain });
  await new Promise<void>((ended) => {
    const supervisor = new Supervisor<DemoWorkerOptions, DemoStarted>('demo-worker', options, {
      started: ({ url }) => {
        if (isAgain) terminal.say('Started again. ', url);
        // Keep the port, because clients reconnect to it.
        settings = { ...settings, port: Number(new URL(url).port), warnings: [] };
        isAgain = true;
      },
      failed: (reason) => {
        terminal.warn(reason);
        terminal.exit(EXIT_FAILED);
        ended();
      },
      killed: () => terminal.say('Killed from the playground; starting again.'),
    });
    stopOnSignals(
      () => supervisor.close(),
      (error) => terminal.warn(String(error)),
    );
    void supervisor.restart();
  });
}
