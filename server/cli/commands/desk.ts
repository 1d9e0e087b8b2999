import type { DeskConnection, DeskGateway, DeskRun, DeskSession } from 'agent-session-gateway';
import { GatewayError } from 'agent-session-gateway/client';
import { Command, InvalidArgumentError } from 'commander';
import { askDesk, type DeskPlace, withDesk } from '../operator/ask-desk.js';
import { type LinePart, styled, type Terminal } from '../terminal.js';
import { wholeNumber } from '../whole-number.js';

type Options = DeskPlace & Readonly<Record<string, any>>;

/** The fields of options that were given, under the names of the question. */
export const given = (options: Options, ...names: readonly string[]): object =>
  Object.fromEntries(
    names.filter((name) => options[name] !== undefined).map((name) => [name, options[name]]),
  );

const UNITS: Readonly<Record<string, number>> = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** A time such as `90s`, `5m` or `2h`, in milliseconds. */
function timeOf(text: string): number {
  const [, count, unit = 's'] = /^(\d{1,6})([smhd])?$/.exec(text) ?? [];
  if (count !== undefined) return Number(count) * UNITS[unit]!;
  throw new InvalidArgumentError('It must be a time, such as 90s, 5m or 2h.');
}

function ago(ms: number | null): string {
  if (ms === null) return '-';
  const seconds = Math.round(ms / 1000);
  if (seconds < 120) return `${seconds}s`;
  return seconds < 7200 ? `${Math.round(seconds / 60)}m` : `${Math.round(seconds / 3600)}h`;
}

const personOf = (user: DeskRun['user']): string =>
  user === null ? '-' : user.tenantId === undefined ? user.id : `${user.id}@${user.tenantId}`;

const withUser = (command: Command): Command =>
  command.option('--user <id>', 'of this user').option('--tenant <id>', 'of this tenant');
export const withOwner = (command: Command): Command =>
  withUser(command).option('--scope <scope>', 'in place of a user: what sessionScope makes of one');
const withJson = (command: Command): Command => command.option('--json', 'write each as a line of JSON');
const withGateway = (command: Command): Command =>
  command.option('--gateway <id>', 'this gateway alone, or one process of it');
const withLimit = (command: Command): Command =>
  command.option('--limit <count>', 'how many at most', wholeNumber, 1000);

/** `status`: what gateways believe of themselves. */
export function statusCommand(terminal: Terminal): Command {
  return withGateway(withJson(withDesk(new Command('status'))))
    .description(
      'tell of the gateways on a database: whether they take work, their versions, load and numbers',
    )
    .action(async (options: Options) => {
      const question = { action: 'status', ...given(options, 'gateway') } as const;
      for await (const row of askDesk<DeskGateway>(options, question)) {
        if (options.json) terminal.say(JSON.stringify(row));
        else for (const line of statusLines(row)) terminal.say(...line);
      }
    });
}

function statusLines({
  gateway,
  version,
  node,
  pid,
  uptimeMs,
  apps,
  stats,
}: DeskGateway): readonly LinePart[][] {
  const { ready, load, sessions, runs, connections, store } = stats;
  const versions = Object.entries(apps).map(([name, of]) => (of === null ? name : `${name} ${of}`));
  return [
    [
      ready.reason === null ? styled('green', 'ready') : styled('red', `not ready: ${ready.reason}`),
      ` for ${ago(ready.forMs)}  ${gateway}  `,
      styled('dim', `version ${version}, Node ${node}, process ${pid}, up ${ago(uptimeMs)}`),
    ],
    [
      `  ${runs.active} runs, ${runs.queued} queued, ${runs.questions} questions; ${sessions.held} of ${sessions.live} sessions held; `,
      `${connections.open} connections, ${connections.blocked} blocked; loop ${Math.round(load.delayMs)} ms late; store ${store.durability}`,
    ],
    [styled('dim', `  apps: ${versions.join(', ')}`)],
  ];
}

/** `runs`: the runs that have not ended, and what they wait for. */
export function runsCommand(terminal: Terminal): Command {
  return withLimit(withUser(withGateway(withJson(withDesk(new Command('runs'))))))
    .description(
      'list the runs that have not ended, of all users, the oldest first, with what each waits for',
    )
    .option(
      '--waits-for <what>',
      'those that wait for this: a person, the store, or what else a line begins with',
    )
    .option('--older <time>', 'those that are at least as old, such as 5m', timeOf)
    .option('--app <name>', 'of this app')
    .action(async ({ older, ...options }: Options) => {
      const question = {
        action: 'runs' as const,
        ...given(options, 'gateway', 'user', 'tenant', 'waitsFor', 'app', 'limit'),
        ...(older !== undefined && { olderMs: older as number }),
      };
      for await (const row of askDesk<DeskRun>(options, question)) {
        if (options.json) terminal.say(JSON.stringify(row));
        else terminal.say(...runLine(row));
      }
    });
}

const COLOURS = { app: 'green', person: 'yellow', queue: 'dim', time: 'dim', child: 'green' } as const;

function runLine({
  gateway,
  sessionId,
  runId,
  app,
  user,
  state,
  waitsFor,
  ageMs,
  until,
}: DeskRun): LinePart[] {
  const colour = waitsFor in COLOURS ? COLOURS[waitsFor as keyof typeof COLOURS] : 'red';
  const wakes = until ? ` until ${new Date(until).toISOString()}` : '';
  return [
    ...[styled(colour, waitsFor.padEnd(8)), ` ${ago(ageMs).padStart(5)}  ${personOf(user)}  ${sessionId}  `],
    styled('dim', `${app} ${state}${wakes}  ${runId ?? '-'}  ${gateway ?? '-'}`),
  ];
}

/** `session`: where a session stands. */
export function sessionCommand(terminal: Terminal): Command {
  return withOwner(withJson(withDesk(new Command('session'))))
    .description('tell where a session of any user stands, without a text of it')
    .argument('<session>', 'as name or app:name')
    .action(async (session: string, options: Options) => {
      const question = { action: 'session', session, ...given(options, 'user', 'tenant', 'scope') } as const;
      for await (const row of askDesk<DeskSession>(options, question)) {
        if (options.json) return terminal.say(JSON.stringify(row));
        const { sessionId, scope, gateway, status, queued, cursor, characters, runs } = row;
        terminal.say(styled('bold', sessionId), `  ${status}, ${queued} queued  `, styled('dim', scope));
        terminal.say(
          `  held by ${gateway ?? 'none that tells'}; ${characters} characters kept; cursor ${cursor ?? '-'}`,
        );
        for (const run of runs) terminal.say('  ', ...runLine(run));
      }
    });
}

/** `connections`: who is connected. */
export function connectionsCommand(terminal: Terminal): Command {
  return withLimit(withUser(withGateway(withJson(withDesk(new Command('connections'))))))
    .description('list the open connections of all users')
    .action(async (options: Options) => {
      const question = {
        action: 'connections',
        ...given(options, 'gateway', 'user', 'tenant', 'limit'),
      } as const;
      for await (const row of askDesk<DeskConnection>(options, question)) {
        if (options.json) {
          terminal.say(JSON.stringify(row));
          continue;
        }
        const { gateway, id, user, transport, openMs, sessions, unreadBytes, blocked } = row;
        terminal.say(
          ...[
            blocked ? styled('red', 'blocked ') : styled('green', 'open    '),
            `${ago(openMs).padStart(5)}  `,
          ],
          `${personOf(user)}  ${transport}  ${sessions} sessions, ${unreadBytes} bytes unread  `,
          styled('dim', `${id}  ${gateway}`),
        );
      }
    });
}

/** `abort`: ends a run. */
export function abortCommand(terminal: Terminal): Command {
  return withOwner(withDesk(new Command('abort')))
    .description('end the active run of a session of any user, or another run of it')
    .argument('<session>', 'as name or app:name')
    .option('--run <id>', 'this run')
    .option('--reason <text>', 'what its people are told')
    .action(async (session: string, options: Options) => {
      const given_ = given(options, 'user', 'tenant', 'scope', 'run', 'reason');
      const question = { action: 'abort', session, ...given_ } as const;
      for await (const { aborted } of askDesk<{ readonly aborted: boolean }>(options, question)) {
        if (!aborted) throw refused(`There is no such run in ${session} that could be ended`);
        terminal.say(`Ended a run of ${session}.`);
      }
    });
}

/** `disconnect`: ends all that a user has open. */
export function disconnectCommand(terminal: Terminal): Command {
  return withDesk(new Command('disconnect'))
    .description('end everything that a user has open; who may come back does')
    .argument('<user>', 'by id')
    .option('--tenant <id>', 'of this tenant')
    .action(async (user: string, options: Options) => {
      const question = { action: 'disconnect', user, ...given(options, 'tenant') } as const;
      for await (const { ended } of askDesk<{ readonly ended: number }>(options, question))
        terminal.say(`Ended ${ended} here, and what is open at other gateways.`);
    });
}

/** `audit`: the acts that the store has kept. */
export function auditCommand(terminal: Terminal): Command {
  return withLimit(withDesk(new Command('audit')))
    .description(
      'write the acts that the store has kept for audits (limits.auditMs), the oldest first: JSON lines with the names of OCSF',
    )
    .option('--last <time>', 'of this time, such as 24h', timeOf)
    .action(async ({ last, ...options }: Options) => {
      const question = {
        action: 'audit' as const,
        ...given(options, 'limit'),
        ...(last !== undefined && { since: Date.now() - (last as number) }),
      };
      for await (const row of askDesk<object>(options, question)) terminal.say(JSON.stringify(row));
    });
}

/** `lame-duck`: has balancers send new clients elsewhere. */
export function lameDuckCommand(terminal: Terminal): Command {
  return withGateway(withDesk(new Command('lame-duck')))
    .description('have a gateway say that it is not ready, while it serves everybody: before it is stopped')
    .option('--off', 'take it back')
    .action(async (options: Options) => {
      const question = {
        action: 'lame-duck',
        on: options.off !== true,
        ...given(options, 'gateway'),
      } as const;
      for await (const row of askDesk<{ readonly gateway: string; readonly lameDuck: boolean }>(
        options,
        question,
      ))
        terminal.say(`${row.gateway} ${row.lameDuck ? 'takes no new clients' : 'takes new clients again'}.`);
    });
}

const TOP_RUNS = 20;

/** `top`: status and the oldest runs, again and again. */
export function topCommand(terminal: Terminal): Command {
  return withDesk(new Command('top'))
    .description('watch the gateways and their oldest runs, until Ctrl+C')
    .option('--every <seconds>', 'time between two looks', wholeNumber, 2)
    .action(async (options: Options) => {
      if (!terminal.isInteractive) throw refused('`top` needs a terminal; `status` and `runs` write lines');
      for (;;) {
        const lines: (readonly LinePart[])[] = [];
        for await (const row of askDesk<DeskGateway>(options, { action: 'status' }))
          lines.push(...statusLines(row));
        for await (const row of askDesk<DeskRun>(options, { action: 'runs', limit: TOP_RUNS }))
          lines.push(runLine(row));
        terminal.clear();
        for (const line of lines) terminal.say(...line);
        await new Promise((resolve) => setTimeout(resolve, options.every * 1000));
      }
    });
}

const refused = (message: string): GatewayError => new GatewayError({ code: 'INVALID_REQUEST', message });
