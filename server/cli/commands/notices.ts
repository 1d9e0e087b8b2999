import type { FailedNotice } from 'agent-session-gateway';
import { GatewayError } from 'agent-session-gateway/client';
import { Command } from 'commander';
import { askOperator, type OperatorDatabase } from '../operator/ask-operator.js';
import { linesOf } from '../operator/lines.js';
import { styled, type Terminal } from '../terminal.js';
import { withDatabase } from './data.js';

interface NoticesOptions extends OperatorDatabase {
  readonly dead?: true;
  readonly json?: true;
}

/** `notices`: lists failed notices, and sends them again. */
export function noticesCommand(terminal: Terminal): Command {
  const resend = withDatabase(new Command('resend'))
    .description('send again what could not be told, also what was given up')
    .argument('<id>', 'of a line of `notices`, or of a notice')
    .action(async (id: string, _: OperatorDatabase, command: Command) => {
      // Commander gives options that both commands have to the parent.
      const database = command.optsWithGlobals<OperatorDatabase>();
      let sent = 0;
      for await (const line of askOperator(database, { action: 'resend', id })) sent += sentOf(line);
      if (sent === 0)
        throw new GatewayError({
          code: 'INVALID_REQUEST',
          message: `There is nothing to send again for ${id}`,
        });
      terminal.say(`Sent ${id} again.`);
    });
  return withDatabase(new Command('notices'))
    .description(
      'list the notices that could not be told: those that are tried again, and those that were given up',
    )
    .option('--dead', 'those that were given up alone')
    .option('--json', 'write each as a line of JSON')
    .action((options: NoticesOptions) => list(options, terminal))
    .addCommand(resend);
}

const sentOf = (line: string): number => (JSON.parse(line) as { readonly sent: number }).sent;

async function list({ dead, json, ...database }: NoticesOptions, terminal: Terminal): Promise<void> {
  for await (const line of linesOf(askOperator(database, { action: 'notices', dead: dead === true }))) {
    if (json) terminal.say(line);
    else tell(JSON.parse(line) as FailedNotice, terminal);
  }
}

function tell(
  { id, notice, dead, attempts, error, nextAt, failedAt }: FailedNotice,
  terminal: Terminal,
): void {
  const when = new Date(nextAt ?? failedAt).toISOString();
  terminal.say(
    styled(dead ? 'red' : 'yellow', (dead ? 'dead' : 'retried').padEnd(8)),
    ` ${when}  ${notice.sessionId}  `,
    styled('dim', `${id}  ${attempts} attempts: ${error}`),
  );
}
