import type { HeldRunInfo, HeldSessionInfo } from 'agent-session-gateway';
import { GatewayError, type SessionStatus, type SessionSummary } from 'agent-session-gateway/client';
import { Command, Option } from 'commander';
import { isSharedPlace } from '../../runtime/store-at.js';
import { type CommandConnection, withClient, withConnection } from '../connection.js';
import { askOperator } from '../operator/ask-operator.js';
import { styled, type Terminal } from '../terminal.js';
import { wholeNumber } from '../whole-number.js';

const STATUSES: readonly SessionStatus[] = ['idle', 'running', 'waiting'];

interface SessionsCommandOptions extends CommandConnection {
  readonly limit: number;
  readonly status?: SessionStatus;
  readonly query?: string;
  readonly archived?: true;
  readonly heldBy?: string | true;
  readonly held?: string | true;
  readonly db: string;
  readonly json?: true;
}

/** `sessions`: lists a user's sessions, or the sessions that gateways hold. */
export function sessionsCommand(terminal: Terminal): Command {
  return withConnection(new Command('sessions'))
    .description('list your sessions, the most recently used first')
    .option('--limit <count>', 'how many', wholeNumber, 50)
    .addOption(new Option('--status <status>', 'these only').choices(STATUSES))
    .option('--query <text>', 'those with this in their title')
    .option('--archived', 'those that are archived')
    .option('--json', 'write each as a line of JSON')
    .option(
      '--held-by [gateway]',
      'those of all users that a gateway holds, or any, as the store of --db has it',
    )
    .option(
      '--held [apps]',
      'those of all users with a run that waits for a version of its app, as the store of --db has it; apps by name, with commas, where no gateway runs',
    )
    .addOption(
      new Option(
        '--db <place>',
        'with --held and --held-by: the database, or the Redis or PostgreSQL that gateways share',
      )
        .default('data/gateway.db')
        .env('GATEWAY_DB'),
    )
    .action((options: SessionsCommandOptions) =>
      options.held !== undefined
        ? heldRuns(options, terminal)
        : options.heldBy === undefined
          ? sessions(options, terminal)
          : held(options, terminal),
    );
}

async function sessions(options: SessionsCommandOptions, terminal: Terminal): Promise<void> {
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

async function held({ db, heldBy, json }: SessionsCommandOptions, terminal: Terminal): Promise<void> {
  if (!isSharedPlace(db))
    throw new GatewayError({
      code: 'INVALID_REQUEST',
      message: '--db names no database that gateways share: a URL of Redis or PostgreSQL',
    });
  const by = typeof heldBy === 'string' ? { by: heldBy } : {};
  for await (const line of askOperator({ db }, { action: 'held', ...by })) {
    if (json) {
      terminal.say(line.trimEnd());
      continue;
    }
    const { sessionId, scope, holder, alive } = JSON.parse(line) as HeldSessionInfo;
    terminal.say(
      styled(alive ? 'green' : 'yellow', (alive ? 'alive' : 'dead').padEnd(6)),
      ` ${holder}  ${sessionId}  `,
      styled('dim', scope),
    );
  }
}

async function heldRuns(
  { db, held: named, json }: SessionsCommandOptions,
  terminal: Terminal,
): Promise<void> {
  const apps = typeof named === 'string' ? { apps: named.split(',') } : {};
  for await (const line of askOperator({ db }, { action: 'held-runs', ...apps })) {
    if (json) {
      terminal.say(line.trimEnd());
      continue;
    }
    const {
      sessionId,
      scope,
      runId,
      app,
      version = 'none',
      by = 'none',
      mismatch,
      since,
    } = JSON.parse(line) as HeldRunInfo;
    const { what, before = '-', now = '-' } = mismatch ?? {};
    terminal.say(
      styled('yellow', 'held  '),
      `${new Date(since).toISOString()}  ${runId}  ${sessionId}  `,
      styled('dim', `${scope}  `),
      `${app} ${version}; ${by} `,
      what
        ? `came to the ${what} ${JSON.stringify(now)} in place of ${JSON.stringify(before)}`
        : 'does not accept it',
    );
  }
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
