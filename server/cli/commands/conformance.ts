import { Argument, Command } from 'commander';
import { mountOf, tokenOption } from '../connection.js';
import { EXIT_DIFFERENT, styled, type Terminal } from '../terminal.js';
import { wholeNumber } from '../whole-number.js';

interface ConformanceCommandOptions {
  readonly token?: string;
  readonly extraRoutes?: string;
  readonly app?: string;
  readonly message: string;
  readonly timeout: number;
  readonly json?: true;
}

/** `conformance`: checks a gateway, with everything in front of it, against the promises to its clients. */
export function conformanceCommand(terminal: Terminal): Command {
  return new Command('conformance')
    .description('examine a gateway and what is in front of it: does it keep what clients rely on?')
    .addArgument(new Argument('<url>', 'where the gateway is mounted, as its clients reach it'))
    .addOption(tokenOption())
    .option('--extra-routes <prefix>', 'where the gateway moved its extra routes to')
    .option('--app <name>', 'the app to talk to, where it is not the default one')
    .option('--message <text>', 'what to say to it; it has to answer without asking anybody', 'Hello')
    .option('--timeout <seconds>', 'within which each promise has to be seen', wholeNumber, 30)
    .option('--json', 'write each result as a line of JSON')
    .addHelpText('after', '\nExit codes: 0 everything is kept; 1 something is not; 2 it could not look.')
    .action((url: string, options: ConformanceCommandOptions) => examine(mountOf(url), options, terminal));
}

async function examine(
  url: string,
  { timeout, json, ...options }: ConformanceCommandOptions,
  terminal: Terminal,
): Promise<void> {
  const { conformance } = await import('agent-session-gateway/testing');
  let faults = 0;
  for await (const result of conformance({ url, ...options, patienceMs: timeout * 1000 })) {
    const { name, fault } = result;
    if (fault !== undefined) faults += 1;
    if (json) terminal.say(JSON.stringify(result));
    else terminal.say(fault === undefined ? styled('green', 'kept  ') : styled('red', 'broken'), ' ', name);
    if (fault !== undefined && !json) terminal.say('       ', fault);
  }
  if (faults > 0) terminal.exit(EXIT_DIFFERENT);
}
