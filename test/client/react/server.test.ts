import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect } from 'chai';
import { createElement as h, type ReactNode, StrictMode } from 'react';
import { renderToPipeableStream, renderToString } from 'react-dom/server';
import type { Client, SessionState } from '../../../client/index.js';
import {
  GatewayProvider,
  useConnection,
  useGateway,
  useMethod,
  useSession,
  useSessionEvents,
  useSessions,
} from '../../../client/react/index.js';
import { defineApp } from '../../../server/index.js';
import { connectClient, failure } from '../../support/client.js';
import { startGateway } from '../../support/gateway.js';
import { silentClient } from '../frameworks.js';

const echo = defineApp({
  async *run(turn) {
    yield `You said ${turn.text}`;
  },
});

function Chat({ initial }: { readonly initial?: SessionState }): ReactNode {
  const { messages, status } = useSession('main', { initial });
  const count = useSession('main', { initial, select: (view) => view.messages.length });
  const health = useConnection();
  const { sessions } = useSessions();
  const { isPending } = useMethod('ping');
  useSessionEvents('main', () => {});
  const rows = messages.map(({ id, content }) => h('li', { key: id }, JSON.stringify(content)));
  return h('ul', { title: `${status} ${count} ${health} ${sessions} ${isPending}` }, rows);
}

const page = (client: Client, initial?: SessionState) =>
  h(StrictMode, null, h(GatewayProvider, { client }, h(Chat, initial && { initial })));

describe('react on a server', () => {
  it('renders what there is and asks nobody', async () => {
    const { client, asked } = silentClient();
    expect(renderToString(page(client))).to.equal('<ul title="loading 0 connecting undefined false"></ul>');
    const stream = renderToPipeableStream(page(client)).pipe(new PassThrough());
    expect(await text(stream)).to.contain('loading 0');
    expect(asked).to.deep.equal([]);
    expect(client.connection.state).to.equal('closed');
  });

  it('renders a state that was read from the gateway', async () => {
    const { url } = await startGateway({ app: echo });
    const { result } = connectClient(url).send('main', 'Hello');
    const { cursor, message } = await result;
    const state = await connectClient(url).session('main').state();
    expect(state.cursor).to.equal(cursor);
    expect(state.messages.at(-1)).to.deep.include({ id: message.id });
    expect(state).to.have.all.keys(
      'cursor',
      'messages',
      'hasMore',
      'messageCount',
      'tip',
      'run',
      'pending',
      'queue',
      'closed',
    );
    const { client, asked } = silentClient();
    const html = renderToString(page(client, JSON.parse(JSON.stringify(state))));
    expect(html).to.contain('title="ready 2 connecting').and.to.contain('You said Hello');
    expect(asked).to.deep.equal([]);
  });

  it('knows the state of a session that has not begun, and why there is none', async () => {
    const { url } = await startGateway({ app: echo });
    expect(await connectClient(url).session('new').state()).to.deep.include({ cursor: null, messages: [] });
    const refused = connectClient(url, { token: 'wrong' }).session('main').state();
    expect(await failure(refused)).to.have.property('code', 'UNAUTHENTICATED');
    const signal = AbortSignal.abort();
    expect(await failure(connectClient(url).session('main').state({ signal }))).to.include({
      code: 'ABORTED',
      name: 'AbortError',
    });
  });

  it('says what is missing above a component', () => {
    const Alone = () => h('i', null, useGateway().connection.state);
    expect(() => renderToString(h(Alone)))
      .to.throw('There is no <GatewayProvider client={…}> above this component')
      .with.property('code', 'INVALID_REQUEST');
  });
});
