import type { DeskKept, DeskUsage, UsageBy, UsageRow } from 'agent-session-gateway';
import { Command, InvalidArgumentError, Option } from 'commander';
import { USAGE_BY } from '../../../shared/budgets/contract.js';
import { usageCsv } from '../../../shared/budgets/csv.js';
import { askDesk, type DeskPlace, withDesk } from '../operator/ask-desk.js';
import { styled, type Terminal } from '../terminal.js';
import { given, withOwner } from './desk.js';

interface UsageCommandOptions extends DeskPlace {
  readonly by?: readonly UsageBy[];
  readonly csv?: true;
  readonly json?: true;
}

function fieldsOf(text: string): readonly UsageBy[] {
  const names = text.split(',') as UsageBy[];
  if (names.every((name) => USAGE_BY.includes(name))) return names;
  throw new InvalidArgumentError(`It must be some of ${USAGE_BY.join(', ')}, with commas between them.`);
}

/** `usage`: what runs have used, and what is kept of a user. */
export function usageCommand(terminal: Terminal): Command {
  return withOwner(withDesk(new Command('usage')))
    .description('sum up tokens and costs, of all people or of one, with what is kept and open of that one')
    .addOption(new Option('--by <fields>', `sums by these: ${USAGE_BY.join(', ')}`).argParser(fieldsOf))
    .option('--from <day>', 'the first day, as 2026-11-28, in UTC')
    .option('--to <day>', 'the last day')
    .addOption(new Option('--csv', 'write the sums as CSV').conflicts('json'))
    .option('--json', 'write each as a line of JSON')
    .action(async (options: UsageCommandOptions) => {
      const names = ['user', 'tenant', 'scope', 'by', 'from', 'to'];
      const question = { action: 'usage', ...given(options, ...names) } as const;
      const rows: UsageRow[] = [];
      for await (const row of askDesk<DeskUsage>(options, question)) {
        if (options.json) terminal.say(JSON.stringify(row));
        else if ('calls' in row) rows.push(row);
        else if (!options.csv) tellKept(row, terminal);
      }
      if (options.csv) terminal.write(usageCsv(rows));
      else for (const row of rows) tell(row, options.by ?? [], terminal);
    });
}

function tellKept({ scope, sessions, characters, runs, connections }: DeskKept, terminal: Terminal): void {
  terminal.say(
    `${sessions} sessions, ${characters} characters, ${runs} runs, ${connections} connections  `,
    styled('dim', scope),
  );
}

function tell(row: UsageRow, by: readonly UsageBy[], terminal: Terminal): void {
  const { calls, inputTokens, outputTokens, cost, currency } = row;
  const fields = by.map((name) => `${row[name] || '-'}  `);
  const price = cost === null ? styled('yellow', 'cost unknown') : styled('bold', `${cost} ${currency}`);
  terminal.say(
    ...fields,
    price,
    styled('dim', `  ${calls} calls, ${inputTokens} tokens in, ${outputTokens} out`),
  );
}
