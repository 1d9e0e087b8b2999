import { expect } from 'chai';
import { createSSRApp, effectScope, h, watch } from 'vue';
import { renderToString } from 'vue/server-renderer';
import { createClient } from '../../../client/index.js';
import { GATEWAY, useConnection, useGateway, useSession } from '../../../client/vue/index.js';
import { initialState } from '../../../shared/fold.js';
import { connectClient } from '../../support/client.js';
import { startGateway } from '../../support/gateway.js';
import { app } from '../pieces.js';

describe('vue', () => {
  it('renders on a server what it is given, and asks nobody', async () => {
    const asked: unknown[] = [];
    const client = createClient({
      baseUrl: 'http://127.0.0.1:1',
      fetch: async (input) => {
        asked.push(input);
        throw new TypeError('asked');
      },
    });
    const message = { id: 'm', role: 'user', content: [{ type: 'text', text: 'Hi' }], createdAt: 1 } as const;
    const initial = { ...initialState, cursor: 'AAAAAAAAAAA.1.4', messages: [message] };
    const page = createSSRApp({
      setup() {
        const { messages, status } = useSession('main', { initial });
        const health = useConnection();
        return () => h('p', `${status.value} ${health.value} ${messages.value.length}`);
      },
    });
    expect(await renderToString(page.provide(GATEWAY, client))).to.equal('<p>ready connecting 1</p>');
    expect(asked).to.deep.equal([]);
    expect(client.connection.state).to.equal('closed');
  });

  it('has refs for what a session may lack at first', async () => {
    const { url } = await startGateway({ app });
    const client = connectClient(url);
    const host = createSSRApp({ render: () => null }).provide(GATEWAY, client);
    const scope = effectScope();
    const session = host.runWithContext(() => scope.run(() => useSession('main'))!);
    expect([session.title, session.metadata, session.archived].map(({ value }) => value)).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
    await session.send('one').result;
    const changed = new Promise<void>((resolve) => {
      watch(session.archived, () => resolve(), { flush: 'sync' });
    });
    await client.update('main', { title: 'One', metadata: { color: 'red' }, archived: true });
    await changed;
    expect(session.title.value).to.equal('One');
    expect(session.metadata.value).to.deep.equal({ color: 'red' });
    expect(session.archived.value).to.equal(true);
    scope.stop();
  });

  it('edits, asks again, goes back and forks, and shows it', async () => {
    const { url } = await startGateway({ app });
    const client = connectClient(url);
    const host = createSSRApp({ render: () => null }).provide(GATEWAY, client);
    const scope = effectScope();
    const session = host.runWithContext(() => scope.run(() => useSession('main'))!);
    const becomes = async (shown: () => unknown) => {
      let stop = () => {};
      await new Promise<void>((resolve) => {
        stop = watch(shown, (is) => is && resolve(), { immediate: true, flush: 'sync' });
      });
      stop();
    };
    await session.send({ id: 'q1', content: 'one' }).result;
    const edit = session.edit('q1', 'uno');
    expect(session.sending.value[0]).to.include({ key: edit.idempotencyKey, replaces: 'q1' });
    const former = (await edit.result).message.id;
    await becomes(() => session.status.value === 'ready');
    const again = session.regenerate();
    expect(session.regenerating.value).to.include({ messageId: former, status: 'sending' });
    const { message } = await again.result;
    await becomes(() => session.status.value === 'ready');
    expect(session.regenerating.value).to.equal(undefined);
    expect(session.messages.value.at(-1)).to.deep.include({ id: message.id, versions: [former, message.id] });
    const [question] = session.messages.value;
    await session.move(question!.id);
    await becomes(() => session.replies.value);
    expect(session.replies.value).to.deep.equal([former, message.id]);
    expect(await session.fork('other', { at: former })).to.include({ sessionId: 'other', tip: former });
    scope.stop();
  });

  it('says what is missing', () => {
    const app = createSSRApp({ render: () => null });
    app.config.warnHandler = () => {};
    expect(() => app.runWithContext(() => useGateway()))
      .to.throw('app.provide(GATEWAY, client)')
      .with.property('code', 'INVALID_REQUEST');
  });
});
