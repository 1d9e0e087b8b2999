import { createClient } from 'agent-session-gateway/client';

/** Has a gateway answer, and asks for what each plugin serves; returns what it heard. */
export async function talk(baseUrl) {
  const client = createClient({ baseUrl });
  const { message } = await client.send('main', 'hello').result;
  const doubled = await client.invoke('double', { n: 21 });
  const { methods } = await (await fetch(`${baseUrl}/methods`)).json();
  const found = {};
  for (const path of [
    '/v1/models',
    '/playground/',
    '/langgraph/ok',
    '/metrics',
    '/mcp',
    '/ag-ui',
    '/api/chat',
    '/.well-known/agent-card.json',
    '/vendor/sessions',
  ])
    found[path] = (await fetch(baseUrl + path)).status;
  client.disconnect();
  const params = methods.map(({ path, params }) => [path, params?.required]);
  return { text: message.content[0].text, doubled, params, found };
}
