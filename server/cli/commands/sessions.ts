import type { SessionStatus, SessionSummary } from 'agent-session-gateway/client';
import { Command, Option } from 'commander';
import { type ConnectionOptions, withClient, withConnection } from '../connection.js';
import { styled, type Terminal } from '../terminal.js';
import { wholeNumber } from '../whole-number.js';

const STATUSES: readonly SessionStatus[] = ['idle', 'running', 'waiting'];

interface SessionsOptions extends ConnectionOptions {
  readonly limit: number;
  readonly status?: SessionStatus;
  readonly query?: string;
  readonly archived?: true;
  readonly json?: true;
}

/** `sessions`: lists a user's sessions. */
export function sessionsCommand(terminal: Terminal): Command {
  return withConnection(new Command('sessions'))
    .description('list your sessions, the most recently used first')
    .option('--limit <count>', 'how many', wholeNumber, 50)
    .addOption(new Option('--status <status>', 'these only').choices(STATUSES))
    .option('--query <text>', 'those with this in their title')
    .option('--archived', 'those that are archived')
    .option('--json', 'write each as a line of JSON')
    .action((options: SessionsOptions) => sessions(options, terminal));
}

async function sessions(options: SessionsOptions, terminal: Terminal): Promise<void> {
  const { status, query, archived, json } = options;
  await withClient(options, async (client) => {
    let left = options.limit;
    let before: string | undefined;
    while (left > 0) {
      const page = await client.sessions({ limit: Math.min(left, 100), before, status, query, archived });
      for (const session of page.sessions) {
        if (json) terminal.say(JSON.stringify(session));
        else tell(session, terminal);
      }
      left -= page.sessions.length;
      if (page.cursor === null || page.sessions.length === 0) return;
      before = page.cursor;
    }
    terminal.warn(styled('dim', `There are more; --limit shows them.`));
  });
}

const COLOURS = { idle: 'dim', running: 'green', waiting: 'yellow' } as const;

function tell(session: SessionSummary, terminal: Terminal): void {
  const { sessionId, app, status, title, preview = '', updatedAt } = session;
  const used = new Date(updatedAt).toISOString();
  terminal.say(
    styled(COLOURS[status], status.padEnd(8)),
    ` ${used}  ${sessionId}  `,
    styled('dim', `${app}  `),
    title === undefined ? styled('dim', preview) : title,
  );
}
