import type { DemoTokens } from './access.js';

/** What the demo's banner tells of. */
export interface Welcome {
  readonly tokens: DemoTokens;
  /** Whether the tokens are new at each start. */
  readonly madeUp: boolean;
  /** File of the sessions; undefined keeps them in memory. */
  readonly database: string | undefined;
}

/** What the demo prints when it has started: where it is, its tokens, and commands that work as they stand. */
export function welcome(url: string, { tokens: { admin, guest }, madeUp, database }: Welcome): string {
  const bearer = quote(`Authorization: Bearer ${admin}`);
  const json = quote('Content-Type: application/json');
  const body = (value: unknown): string => quote(JSON.stringify(value));
  const kept =
    database === undefined
      ? 'Sessions are kept in memory and end with this process.'
      : `Sessions are kept in ${database}.`;
  const ask = { sessionId: 'files', message: 'delete report.txt' };
  const lasting = madeUp
    ? `
  These tokens end with this process. For one that stays, start with GATEWAY_TOKEN=${admin} npm start
`
    : '';
  return `Agent Session Gateway: the demo. ${kept}

  URL          ${url}
  token        ${admin}   (user demo, role admin)
  guest token  ${guest}   (user guest, no roles)
  for OpenAI clients: base URL ${url}/v1, model demo, the token as API key
${lasting}
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
