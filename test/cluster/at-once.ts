import { expect } from 'chai';
import { defineApp, type GatewayConfig } from '../../server/index.js';
import { chatCompletionsPlugin } from '../../server/plugins/chat-completions/index.js';
import { responsesPlugin } from '../../server/plugins/responses/index.js';
import { textOf } from '../../shared/messages.js';
import { gate } from '../support/gate.js';
import { get, type TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';

/** Answers with the conversation as it sees it. */
const recalling = defineApp({
  run: ({ history, message }) => Promise.resolve([...history, message].map(textOf).join('|')),
});

/** Lets nobody send before two have come so far: what either compared with is from before the other. */
function together(): NonNullable<GatewayConfig['sessionAccess']> {
  const both = gate();
  let sending = 0;
  return async (_user, _session, operation) => {
    if (operation !== 'send') return true;
    sending += 1;
    if (sending === 2) both.open();
    await both.passed;
    return true;
  };
}

/** Two gateways on one store, and who asks them. */
export interface Pair {
  readonly nodes: readonly TestGateway[];
  readonly headers: Readonly<Record<string, string>>;
}

/** What two requests do that arrive at two gateways at the same moment. @param start Starts them on one store */
export function describeAtOnce(
  start: (config: Pick<GatewayConfig, 'app' | 'sessionAccess'>) => Promise<Pair>,
): void {
  const startPair = async (before?: (pair: Pair) => Promise<void>): Promise<Pair> => {
    let access: NonNullable<GatewayConfig['sessionAccess']> = () => true;
    const pair = await start({ app: recalling, sessionAccess: (...asked) => access(...asked) });
    for (const { gateway } of pair.nodes) {
      gateway.use(chatCompletionsPlugin());
      gateway.use(responsesPlugin());
    }
    await before?.(pair);
    access = together();
    return pair;
  };
  const ask = async (
    { url }: TestGateway,
    path: string,
    { body, headers }: { readonly body: object; readonly headers: Readonly<Record<string, string>> },
  ): Promise<any> => {
    const response = await fetch(`${url}/v1/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ model: 'default', ...body }),
    });
    expect(response.status).to.equal(200);
    return response.json();
  };
  const atBoth = ({ nodes }: Pair, path: string, asked: Parameters<typeof ask>[2]): Promise<any[]> =>
    Promise.all(nodes.map((node) => ask(node, path, asked)));
  /** The gateway that wrote the last message may hear of its own append last: the other one has told of it by then. */
  const textsOf = async ({ nodes, headers }: Pair, session: string, count: number): Promise<string[]> => {
    let texts: string[] = [];
    await until(async () => {
      const { body } = await get(`${nodes[0]!.url}/history?sessionId=${session}`, headers);
      texts = body.messages.map(textOf);
      return texts.length >= count;
    });
    return texts;
  };

  const whole = ['a', 'b', 'c'].map((content, at) => ({ role: at === 1 ? 'assistant' : 'user', content }));
  for (const [path, field] of [
    ['chat/completions', 'messages'],
    ['responses', 'input'],
  ] as const)
    it(`seed a session once with the conversation that both bring: ${path}`, async () => {
      const pair = await startPair();
      const headers = { ...pair.headers, 'x-session-id': 'kept' };
      await atBoth(pair, path, { body: { [field]: whole }, headers });
      const texts = await textsOf(pair, 'kept', 6);
      expect(texts).to.deep.equal(['a', 'b', 'c', 'a|b|c', 'c', 'a|b|c|a|b|c|c']);
    });

  it('are one response where both bring the same key', async () => {
    const pair = await startPair();
    const headers = { ...pair.headers, 'x-session-id': 'kept', 'idempotency-key': 'k' };
    const [one, other] = await atBoth(pair, 'responses', { body: { input: whole }, headers });
    expect(other.id).to.equal(one.id);
    expect(await textsOf(pair, 'kept', 4)).to.deep.equal(['a', 'b', 'c', 'a|b|c']);
  });

  it('go on with one response each by itself', async () => {
    let id = '';
    const pair = await startPair(async ({ nodes, headers }) => {
      ({ id } = await ask(nodes[0]!, 'responses', { body: { input: 'a' }, headers }));
    });
    const { headers } = pair;
    const both = await atBoth(pair, 'responses', { body: { input: 'b', previous_response_id: id }, headers });
    const said = both.map(({ output }) => output[0].content[0].text);
    expect(said).to.deep.equal(['a|a|b', 'a|a|b']);
  });
}
