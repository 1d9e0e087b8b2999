import type { DeadWork } from 'agent-session-gateway';
import { GatewayError } from 'agent-session-gateway/client';
import { Command } from 'commander';
import { askOperator, type OperatorDatabase } from '../operator/ask-operator.js';
import { linesOf } from '../operator/lines.js';
import { styled, type Terminal } from '../terminal.js';
import { withDatabase } from './data.js';

interface DueCommandOptions extends OperatorDatabase {
  readonly json?: true;
}

/** `due`: lists due work that was given up, and has it tried again. */
export function dueCommand(terminal: Terminal): Command {
  const retry = withDatabase(new Command('retry'))
    .description('try given-up work again')
    .argument('<id>', 'of a line of `due`')
    .action(async (id: string, _: OperatorDatabase, command: Command) => {
      // Commander gives options that both commands have to the parent.
      const database = command.optsWithGlobals<OperatorDatabase>();
      let isRetried = false;
      for await (const line of linesOf(askOperator(database, { action: 'retry', id })))
        isRetried = (JSON.parse(line) as { readonly retried: boolean }).retried;
      const message = `There is no given-up work ${id}, or something has taken its place`;
      if (!isRetried) throw new GatewayError({ code: 'INVALID_REQUEST', message });
      terminal.say(`${id} is tried again.`);
    });
  return withDatabase(new Command('due'))
    .description('list work that was due and was given up: schedules, deliveries of notices, and others')
    .option('--json', 'write each as a line of JSON')
    .action(({ json, ...database }: DueCommandOptions) => list(database, json === true, terminal))
    .addCommand(retry);
}

async function list(database: OperatorDatabase, isJson: boolean, terminal: Terminal): Promise<void> {
  for await (const line of linesOf(askOperator(database, { action: 'dead' }))) {
    if (isJson) terminal.say(line);
    else tell(JSON.parse(line) as DeadWork, terminal);
  }
}

function tell({ id, kind, name, sessionId, attempts, error, failedAt }: DeadWork, terminal: Terminal): void {
  terminal.say(
    ...[styled('red', id), `  ${new Date(failedAt).toISOString()}  ${sessionId ?? '-'}  ${kind} ${name}  `],
    styled('dim', `${attempts} attempts: ${error}`),
  );
}
