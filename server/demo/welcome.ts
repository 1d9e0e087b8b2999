import type { DemoTokens } from './access.js';

/** What the demo prints when it has started: where it is, its tokens, and three commands that work as they stand. */
export function welcome(url: string, { admin, guest }: DemoTokens, database: string | undefined): string {
  const bearer = quote(`Authorization: Bearer ${admin}`);
  const json = quote('Content-Type: application/json');
  const body = (value: unknown): string => quote(JSON.stringify(value));
  const kept =
    database === undefined
      ? 'Sessions are kept in memory and end with this process.'
      : `Sessions are kept in ${database}.`;
  return `Agent Session Gateway: the demo. ${kept}

  URL          ${url}
  token        ${admin}   (user demo, role admin)
  guest token  ${guest}   (user guest, no roles)
  for OpenAI clients: base URL ${url}/v1, model demo, the token as API key

Try, in another terminal:

  curl -N ${url}/send -H ${bearer} -H ${json} -d ${body({ sessionId: 'main', message: 'weather in Oslo' })}
  curl -N ${quote(`${url}/events?sessionId=main&from=earliest`)} -H ${bearer}
  curl ${url}/invoke -H ${bearer} -H ${json} -d ${body({ method: 'tasks:create', params: { title: 'Try the gateway' } })}

Stop with Ctrl+C.
`;
}

/** Quotes an argument for a POSIX shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
