import { GatewayError, type GatewayEvent, type Start } from 'agent-session-gateway/client';
import { Command } from 'commander';
import {
  type CommandConnection,
  checkGateway,
  watchConnection,
  withClient,
  withConnection,
} from '../connection.js';
import { brief, styled, type Terminal } from '../terminal.js';

interface TailOptions extends CommandConnection {
  readonly from?: Start;
  readonly type?: readonly string[];
  readonly json?: true;
  readonly follow: boolean;
}

/** `tail`: prints the events of a session as they happen. */
export function tailCommand(terminal: Terminal): Command {
  return withConnection(new Command('tail'))
    .description('follow the events of a session, through cuts and restarts')
    .argument('[session]', 'the session, as name or app:name', 'main')
    .option('--from <place>', '`earliest`, `run` (the active one, else now), `now`, `snapshot`, or a cursor')
    .option('--type <type...>', 'these types only')
    .option('--no-follow', 'from the earliest event that is kept to the last there is, and end')
    .option('--json', 'write events as lines of JSON')
    .action((session: string, options: TailOptions) => tail(session, options, terminal));
}

async function tail(sessionId: string, options: TailOptions, terminal: Terminal): Promise<void> {
  const { type: types, json = false, follow, from = follow ? 'run' : 'earliest' } = options;
  if (!follow && /^(?:run|now)$/.test(from)) {
    const message = '--no-follow goes with --from earliest (the default then), snapshot or a cursor';
    throw new GatewayError({ code: 'INVALID_REQUEST', message });
  }
  await withClient(options, async (client) => {
    await checkGateway(client);
    const last = await client.session(sessionId).state();
    if (!follow && last.cursor === null)
      throw new GatewayError({
        code: 'SESSION_NOT_FOUND',
        message: `There is no session ${sessionId} of yours`,
      });
    if (!follow && isReached(from, last.cursor!)) return;
    const unwatch = watchConnection(client, (text) => terminal.warn(styled('yellow', text)));
    const stop = new AbortController();
    const interrupt = () => stop.abort();
    process.once('SIGINT', interrupt).once('SIGTERM', interrupt);
    try {
      for await (const event of client.events(sessionId, { from, signal: stop.signal })) {
        if (event.type === 'gap' && event.reason === 'malformed') {
          const message = `--from is ${JSON.stringify(from)}, which is no cursor of ${sessionId}: take one that tail prints, or \`earliest\``;
          throw new GatewayError({ code: 'INVALID_REQUEST', message });
        }
        if (types === undefined || types.includes(event.type)) {
          if (json) terminal.say(JSON.stringify(event));
          else tell(event, terminal);
        }
        const cursor = event.type === 'snapshot' ? event.state.cursor : event.cursor;
        if (!follow && cursor && isReached(cursor, last.cursor!)) return;
      }
    } finally {
      unwatch();
      process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
    }
  });
}

/** Whether a cursor is at or after another one in the same log. */
function isReached(cursor: string, last: string): boolean {
  const [epoch, , place] = cursor.split('.');
  const [lastEpoch, , lastPlace] = last.split('.');
  return epoch === lastEpoch && Number(place) >= Number(lastPlace);
}

function tell({ type, cursor, ts, ...event }: GatewayEvent, terminal: Terminal): void {
  const { sessionId: _, ...rest } = event as Readonly<Record<string, unknown>>;
  terminal.say(
    styled('dim', `${ts === undefined ? '' : new Date(ts).toISOString()} ${cursor ?? '-'} `),
    styled('cyan', type),
    ` ${brief(rest)}`,
  );
}
