import { expect } from 'chai';
import { langGraphPlugin } from '../../../server/plugins/langgraph/index.js';
import { echo } from '../../support/apps.js';
import { startGateway } from '../../support/gateway.js';
import { as, byName } from '../../support/users.js';

const VALUES: readonly unknown[] = [0, -1, 1.5, 'x', '', true, [], [null], {}, { a: [] }, [[]], 1e9];

/** Routes of a thread, with the fields of their bodies. */
const ROUTES: Readonly<Record<string, readonly string[]>> = {
  '/assistants/search': ['graph_id', 'limit', 'offset'],
  '/threads': ['thread_id', 'if_exists', 'metadata', 'supersteps'],
  '/threads/search': ['metadata', 'ids', 'status', 'limit', 'offset'],
  '/threads/main/history': ['limit', 'before', 'checkpoint'],
  '/threads/main/state/checkpoint': ['checkpoint'],
  '/threads/main/state': ['values', 'checkpoint', 'checkpoint_id', 'as_node'],
  '/threads/main/runs/wait': [
    ...['assistant_id', 'input', 'config', 'command', 'stream_mode', 'multitask_strategy'],
    ...['checkpoint', 'checkpoint_id', 'metadata'],
  ],
  '/threads/main/commands': ['id', 'method', 'params'],
  '/threads/main/stream/events': ['channels', 'namespaces', 'since'],
};

describe('what is wrong in a request of a LangGraph client', () => {
  it('is never an error of the gateway, whatever it is', async () => {
    const { url, gateway, log } = await startGateway({ app: echo, auth: byName });
    gateway.use(langGraphPlugin());
    const post = (path: string, body: unknown) => {
      const headers = { ...as('alice'), 'content-type': 'application/json' };
      const signal = AbortSignal.timeout(20_000);
      return fetch(`${url}/langgraph${path}`, {
        method: 'POST',
        headers,
        body: JSON.stringify(body),
        signal,
      });
    };
    await (
      await post('/threads/main/runs/wait', { input: { messages: [{ type: 'human', content: 'hi' }] } })
    ).text();
    const failed: string[] = [];
    for (const [path, fields] of Object.entries(ROUTES)) {
      const bodies = [...VALUES, ...fields.flatMap((field) => VALUES.map((value) => ({ [field]: value })))];
      for (const body of bodies) {
        const response = await post(path, body);
        if (response.status >= 500) failed.push(`${path} ${JSON.stringify(body)}: ${response.status}`);
        await response.body?.cancel();
      }
    }
    for (const query of ['limit=x', 'limit=-1', 'offset=1.5', 'status=none'])
      for (const path of ['runs', 'history']) {
        const response = await fetch(`${url}/langgraph/threads/main/${path}?${query}`, {
          headers: as('alice'),
        });
        if (response.status >= 500) failed.push(`${path}?${query}: ${response.status}`);
        await response.body?.cancel();
      }
    expect(failed).to.deep.equal([]);
    expect(log.lines.filter(({ level }) => level === 'error')).to.deep.equal([]);
  });

  it('is named', async () => {
    const { url, gateway } = await startGateway({ app: echo, auth: byName });
    gateway.use(langGraphPlugin());
    const response = await fetch(`${url}/langgraph/threads/search`, {
      method: 'POST',
      headers: { ...as('alice'), 'content-type': 'application/json' },
      body: '{"limit":"many"}',
    });
    expect(response.status).to.equal(400);
    expect((await response.json()).message).to.include('limit');
  });
});
