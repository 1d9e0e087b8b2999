import { Command, InvalidArgumentError } from 'commander';
import { type CommandConnection, withConnection } from '../connection.js';
import type { Finding } from '../doctor/finding.js';
import { portOf } from '../port-of.js';
import { EXIT_DIFFERENT, type LinePart, styled, type Terminal } from '../terminal.js';
import { wholeNumber } from '../whole-number.js';

interface DoctorOptions extends CommandConnection {
  readonly origin?: string;
  readonly port?: number;
  readonly host: string;
  readonly db?: string;
  readonly timeout: number;
  readonly json?: true;
}

const MARKS: Readonly<Record<Finding['status'], LinePart>> = {
  ok: styled('green', 'ok     '),
  warning: styled('yellow', 'warning'),
  problem: styled('red', 'problem'),
};

/** `doctor`: finds problems between this machine and a gateway, and prints remedies. */
export function doctorCommand(terminal: Terminal): Command {
  return withConnection(new Command('doctor'))
    .description('find out what is wrong with a gateway, or on the way to it, and how to mend it')
    .option('--origin <origin>', 'of pages that are to call the gateway, as https://example.com', originOf)
    .option('--port <port>', 'a port that a gateway is to listen on, here', portOf)
    .option('--host <host>', 'the address it is to listen on', '127.0.0.1')
    .option(
      '--db <place>',
      'a database that a gateway is to open, here: a file, or a URL of Redis or PostgreSQL',
    )
    .option('--timeout <seconds>', 'within which everything has to answer', wholeNumber, 5)
    .option('--json', 'write each finding as a line of JSON')
    .addHelpText('after', '\nExit codes: 0 no problem; 1 a problem was found; 2 it could not look.')
    .action((options: DoctorOptions, command: Command) => doctor(options, command, terminal));
}

async function doctor(options: DoctorOptions, command: Command, terminal: Terminal): Promise<void> {
  const isNamed = command.getOptionValueSource('url') !== 'default' || options.socket !== undefined;
  // A caller that names a port or a database usually has no running gateway yet.
  const isRunning = isNamed || (options.port === undefined && options.db === undefined);
  const { examine } = await import('../doctor/examine.js');
  let problems = 0;
  for await (const finding of examine({ ...options, isRunning, patienceMs: options.timeout * 1000 })) {
    if (finding.status === 'problem') problems += 1;
    if (options.json) terminal.say(JSON.stringify(finding));
    else tell(finding, terminal);
  }
  if (problems > 0) terminal.exit(EXIT_DIFFERENT);
}

function tell({ status, about, text, fix }: Finding, terminal: Terminal): void {
  terminal.say(MARKS[status], ' ', styled('bold', about), `: ${text}`);
  if (fix !== undefined) terminal.say('        ', fix);
}

function originOf(text: string): string {
  const { origin } = URL.canParse(text) ? new URL(text) : { origin: 'null' };
  if (origin !== 'null' && origin === text.replace(/\/$/, '')) return origin;
  throw new InvalidArgumentError('It must be scheme, name and port alone, as https://example.com');
}
