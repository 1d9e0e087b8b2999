import type { DeadWork } from 'agent-session-gateway';
import { GatewayError } from 'agent-session-gateway/client';
import { Command } from 'commander';
import { askDesk, type DeskPlace, withDesk } from '../operator/ask-desk.js';
import { styled, type Terminal } from '../terminal.js';

interface DueCommandOptions extends DeskPlace {
  readonly json?: true;
}

/** `due`: lists due work that was given up, and has it tried again. */
export function dueCommand(terminal: Terminal): Command {
  const retry = withDesk(new Command('retry'))
    .description('try given-up work again')
    .argument('<id>', 'of a line of `due`')
    .action(async (id: string, _: DeskPlace, command: Command) => {
      // Commander gives options that both commands have to the parent.
      const place = command.optsWithGlobals<DeskPlace>();
      let isRetried = false;
      for await (const row of askDesk<{ readonly retried: boolean }>(place, { action: 'retry', id }))
        isRetried = row.retried;
      const message = `There is no given-up work ${id}, or something has taken its place`;
      if (!isRetried) throw new GatewayError({ code: 'INVALID_REQUEST', message });
      terminal.say(`${id} is tried again.`);
    });
  return withDesk(new Command('due'))
    .description('list work that was due and was given up: schedules, deliveries of notices, and others')
    .option('--json', 'write each as a line of JSON')
    .action(({ json, ...place }: DueCommandOptions) => list(place, json === true, terminal))
    .addCommand(retry);
}

async function list(place: DeskPlace, isJson: boolean, terminal: Terminal): Promise<void> {
  for await (const row of askDesk<DeadWork>(place, { action: 'due' })) {
    if (isJson) terminal.say(JSON.stringify(row));
    else tell(row, terminal);
  }
}

function tell({ id, kind, name, sessionId, attempts, error, failedAt }: DeadWork, terminal: Terminal): void {
  terminal.say(
    ...[styled('red', id), `  ${new Date(failedAt).toISOString()}  ${sessionId ?? '-'}  ${kind} ${name}  `],
    styled('dim', `${attempts} attempts: ${error}`),
  );
}
