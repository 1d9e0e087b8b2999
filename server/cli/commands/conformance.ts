import { Argument, Command } from 'commander';
import { fieldError } from '../../../shared/errors.js';
import { secretProblem } from '../../runtime/signature.js';
import { mountOf, tokenOption } from '../connection.js';
import { EXIT_DIFFERENT, styled, type Terminal } from '../terminal.js';
import { wholeNumber } from '../whole-number.js';

interface ConformanceCommandOptions {
  readonly token?: string;
  readonly extraRoutes?: string;
  readonly app?: string;
  readonly secret?: string;
  readonly message: string;
  readonly timeout: number;
  readonly json?: true;
}

/** `conformance`: checks a gateway, with everything in front of it, against the promises to its clients. */
export function conformanceCommand(terminal: Terminal): Command {
  return new Command('conformance')
    .description('examine a gateway and what is in front of it: does it keep what clients rely on?')
    .addArgument(new Argument('[url]', 'where the gateway is mounted, as its clients reach it'))
    .addOption(tokenOption())
    .option('--extra-routes <prefix>', 'where the gateway moved its extra routes to')
    .option(
      '--app <name>',
      'the app to talk to, where it is not the default one; without <url>, the address of an app server',
    )
    .option('--secret <base64>', 'what slices to the app server are signed with; APP_SECRET says the same')
    .option('--message <text>', 'what to say to it; it has to answer without asking anybody', 'Hello')
    .option('--timeout <seconds>', 'within which each promise has to be seen', wholeNumber, 30)
    .option('--json', 'write each result as a line of JSON')
    .addHelpText('after', '\nExit codes: 0 everything is kept; 1 something is not; 2 it could not look.')
    .action((url: string | undefined, options: ConformanceCommandOptions) => examine(url, options, terminal));
}

async function examine(
  url: string | undefined,
  options: ConformanceCommandOptions,
  terminal: Terminal,
): Promise<void> {
  const { json } = options;
  let faults = 0;
  for await (const result of await resultsOf(url, options)) {
    const { name, fault } = result;
    if (fault !== undefined) faults += 1;
    if (json) terminal.say(JSON.stringify(result));
    else terminal.say(fault === undefined ? styled('green', 'kept  ') : styled('red', 'broken'), ' ', name);
    if (fault !== undefined && !json) terminal.say('       ', fault);
  }
  if (faults > 0) terminal.exit(EXIT_DIFFERENT);
}

interface Examination {
  readonly name: string;
  readonly fault: string | undefined;
}

async function resultsOf(
  url: string | undefined,
  { timeout, json: _json, secret = process.env.APP_SECRET, ...options }: ConformanceCommandOptions,
): Promise<AsyncIterable<Examination>> {
  const patienceMs = timeout * 1000;
  if (url !== undefined) {
    const { conformance } = await import('agent-session-gateway/testing');
    return conformance({ url: mountOf(url), ...options, patienceMs });
  }
  const { app } = options;
  if (app === undefined || !/^https?:/.test(app))
    throw fieldError('url', 'must be the address of a gateway, or --app that of an app server');
  const problem = secretProblem(secret);
  if (problem !== undefined) throw fieldError('--secret', problem);
  const { examineApp } = await import('../app-conformance/examine.js');
  return examineApp({ url: app, secret: secret!, patienceMs });
}
