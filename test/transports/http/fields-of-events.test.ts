import { expect } from 'chai';
import { tracked } from '../../../server/index.js';
import { agUiPlugin } from '../../../server/plugins/ag-ui/index.js';
import { langGraphPlugin } from '../../../server/plugins/langgraph/index.js';
import { posting } from '../../plugins/door.js';
import { echo } from '../../support/apps.js';
import { startGateway } from '../../support/gateway.js';
import { as, byName } from '../../support/users.js';

const says = { messages: [{ id: 'm1', role: 'user', content: 'hello' }] };

/** What a client may ask for, and how many events with an id it is told at least. */
const STREAMS: readonly [what: string, path: string, init: RequestInit, where?: 'before'][] = [
  ['an answer', '/send', posting({ sessionId: 'main', message: 'hello' })],
  ['a session', '/events?sessionId=main&from=earliest', {}],
  ['several sessions', '/events?sessionId=main&sessionId=other&from=earliest', {}],
  ['a streaming method', '/invoke', posting({ method: 'count', params: {} })],
  [
    'an agent of AG-UI',
    '/ag-ui/agent/default',
    posting({ ...says, threadId: 'a', runId: 'r', state: {}, tools: [], context: [], forwardedProps: {} }),
    // TanStack AI takes an event with the line of its data, and the id that came before.
    'before',
  ],
  [
    'a run of LangGraph',
    '/langgraph/threads/b/runs/stream',
    posting({ assistant_id: 'default', input: says, stream_mode: ['values', 'messages-tuple'] }),
  ],
  [
    'a thread of LangGraph',
    '/langgraph/threads/main/stream/events',
    posting({ channels: ['values', 'messages', 'lifecycle'] }, { headers: { accept: 'text/event-stream' } }),
  ],
];

/** The blocks of a stream that have an id, up to a number of them. */
async function blocksWithId(response: Response, most: number): Promise<string[]> {
  const decoder = new TextDecoder();
  let text = '';
  for await (const bytes of response.body!) {
    text += decoder.decode(bytes, { stream: true });
    const blocks = text.split('\n\n').slice(0, -1);
    const named = blocks.filter((block) => /^id: /m.test(block));
    if (named.length >= most) return named;
  }
  return text.split('\n\n').filter((block) => /^id: /m.test(block));
}

describe('the id of a Server-Sent Event', () => {
  // Clients that take an id with its line, and not with its event, lose an event that is cut between the two.
  for (const [what, path, init, where = 'behind'] of STREAMS)
    it(`stands ${where} its data, on the stream of ${what}`, async () => {
      const count = async function* () {
        yield tracked('1', { n: 1 });
      };
      const { gateway, url } = await startGateway({
        app: echo,
        auth: byName,
        methods: { count },
        limits: { heartbeatMs: 20 },
      });
      gateway.use(agUiPlugin());
      gateway.use(langGraphPlugin());
      await gateway.session('main', { user: { id: 'alice' } }).send('hello').result;
      const headers = { ...as('alice'), ...(init.headers as Record<string, string>) };
      const blocks = await blocksWithId(await fetch(`${url}${path}`, { ...init, headers }), 3);
      expect(blocks).not.to.deep.equal([]);
      const order = where === 'before' ? /(?:^|\n)id: .*\ndata: .*$/ : /(?:^|\n)data: .*\nid: .*$/;
      for (const block of blocks) expect(block).to.match(order);
    });
});
