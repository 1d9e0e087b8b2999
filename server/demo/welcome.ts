import { toldPlace } from '../runtime/store-at.js';
import type { DemoTokens } from './access.js';
import type { Door } from './doors.js';

/** The contents of the demo's banner. */
export interface DemoWelcome {
  readonly tokens: DemoTokens;
  /** Whether the tokens are new at each start. */
  readonly madeUp: boolean;
  /** Place of the sessions, a file or a URL; undefined keeps them in memory. */
  readonly database: string | undefined;
  readonly doors: readonly Door[];
  /** Notes about doors that are not served. */
  readonly lacks: readonly string[];
  /** The command that starts the demo. */
  readonly command: string;
}

/** The text that the demo prints at its start: its address, its tokens, and commands that work unchanged. */
export function welcome(
  url: string,
  { tokens: { admin, guest }, madeUp, database, doors, lacks, command }: DemoWelcome,
): string {
  const bearer = quote(`Authorization: Bearer ${admin}`);
  const json = quote('Content-Type: application/json');
  const body = (value: unknown): string => quote(JSON.stringify(value));
  const kept =
    database === undefined ? 'Sessions are kept in memory and end with this process.' : toldPlace(database);
  const ask = { sessionId: 'files', message: 'delete report.txt' };
  const lasting = madeUp
    ? `
  These tokens end with this process. For one that stays, start with GATEWAY_TOKEN=${admin} ${command}
`
    : '';
  const names = Math.max(...doors.map(({ name }) => name.length));
  const paths = Math.max(...doors.map(({ path }) => path.length));
  const listed = doors.map(
    ({ name, path, use }) => `  ${name.padEnd(names)}  ${url}${path.padEnd(paths)}  ${use}`,
  );
  return `Agent Session Gateway: the demo. ${kept}

  Open ${url}/#token=${encodeURIComponent(admin)}

  URL          ${url}
  token        ${admin}   (user demo, role admin)
  guest token  ${guest}   (user guest, no roles)
${lasting}
Doors, all to the same sessions:

${[...listed, ...lacks.map((text) => `  ${text}`)].join('\n')}

Try, in another terminal:

  curl -N ${url}/send -H ${bearer} -H ${json} -d ${body({ sessionId: 'main', message: 'weather in Oslo' })}
  curl -N ${quote(`${url}/events?sessionId=main&from=earliest`)} -H ${bearer}
  curl ${url}/invoke -H ${bearer} -H ${json} -d ${body({ method: 'tasks:create', params: { title: 'Try the gateway' } })}

An answer that needs your consent waits until you give it. Ask, then approve with the callId of tool_confirmation_required:

  curl -N ${url}/send -H ${bearer} -H ${json} -d ${body(ask)}
  curl ${url}/tool-response -H ${bearer} -H ${json} -d ${body({ sessionId: 'files', callId: 'CALL_ID', approved: true })}

Stop with Ctrl+C.
`;
}

/** Quotes an argument for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
