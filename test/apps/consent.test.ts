import { expect } from 'chai';
import { type Confirmation, defineApp, type HostSendOptions, type Turn } from '../../server/index.js';
import { crashed, newDatabase, startDurable } from '../support/durable.js';
import { gate } from '../support/gate.js';
import { post, startGateway, TOKEN } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';

const read = (url: string) => openStream(`${url}/events?sessionId=main&from=earliest&token=${TOKEN}`);
const asked = ({ event }: { event: string }): boolean => event === 'tool_confirmation_required';
const ended = ({ event }: { event: string }): boolean => event === 'message_end';

describe('turn.confirm', () => {
  const request = { name: 'deploy', input: { to: 'live' }, message: 'Deploy?', callId: 'call_7' };

  for (const answer of [
    { approved: true },
    { approved: true, input: { to: 'test' } },
    { approved: false, reason: 'not now' },
  ]) {
    it(`asks the session's clients and resolves with ${JSON.stringify(answer)}`, async () => {
      let said: Confirmation | undefined;
      const app = defineApp({
        run: async (turn) => {
          said = await turn.confirm(request);
          return 'done';
        },
      });
      const { url } = await startGateway({ app });
      const stream = await read(url);
      await post(`${url}/send`, { sessionId: 'main', message: 'x' }, { prefer: 'respond-async' });
      const { data } = await stream.until(asked);
      expect(data).to.deep.include(request);
      expect((await post(`${url}/tool-response`, { sessionId: 'main', callId: 'call_7' })).status).to.equal(
        400,
      );
      await post(`${url}/tool-response`, { sessionId: 'main', callId: 'call_7', ...answer });
      await stream.until(ended);
      expect(said).to.deep.equal(answer);
    });
  }

  it('survives a restart for a resumable app: what is open is not asked twice', async () => {
    const makeApp = () => {
      const done = gate<Confirmation>();
      const app = defineApp({
        resumable: true,
        run: async (turn) => {
          done.open(await turn.confirm({ name: 'deploy', input: { to: 'live' } }));
          return 'done';
        },
      });
      return { app, done };
    };
    const path = newDatabase();
    const first = await startDurable(path, { app: makeApp().app });
    await post(`${first.url}/send`, { sessionId: 'main', message: 'x' }, { prefer: 'respond-async' });
    const { data } = await (await read(first.url)).until(asked);
    const { app, done } = makeApp();
    const second = await startDurable(crashed(path), { app });
    const answer = { sessionId: 'main', callId: data.callId, approved: true };
    expect((await post(`${second.url}/tool-response`, answer)).status).to.equal(200);
    expect(await done.passed).to.deep.equal({ approved: true });
    const stream = await read(second.url);
    await stream.until(ended);
    expect(stream.logged.filter(asked)).to.have.length(1);
  });
});

describe("a tool that the turn's caller brought along", () => {
  const clientTools = [
    {
      name: 'look',
      description: 'Looks',
      parameters: { type: 'object', properties: { at: { type: 'string' } } },
    },
    { name: 'own', parameters: {} },
  ];

  async function ask(run: (turn: Turn) => Promise<string>, options: HostSendOptions = { clientTools }) {
    const app = defineApp({
      tools: { own: { runsOn: 'server', confirm: false, handler: () => 'mine' } },
      run,
    });
    const { gateway, url } = await startGateway({ app });
    const stream = await read(url);
    const session = gateway.session('main');
    const run_ = session.send('x', options);
    return { stream, session, run: run_ };
  }

  it('is called through turn.callTool and answered with respond', async () => {
    const { stream, session, run } = await ask(async (turn) =>
      JSON.stringify(await turn.callTool('look', { at: 'sky' })),
    );
    const { data } = await stream.until(({ event }) => event === 'input_required');
    expect(data).to.deep.include({
      name: 'look',
      payload: { at: 'sky' },
      schema: clientTools[0]!.parameters,
    });
    await session.respond(data.callId, { output: { seen: 'blue' } });
    const { message } = await run.result;
    expect(message.content.at(-1)).to.deep.equal({ type: 'text', text: '{"seen":"blue"}' });
    await stream.until(ended);
    const results = stream.logged.filter(({ event }) => event === 'tool_use' || event === 'tool_result');
    expect(results.map(({ data: { name, callId } }) => [name, callId])).to.deep.equal([
      ['look', data.callId],
      ['look', data.callId],
    ]);
  });

  it("never takes the place of the app's own, and is not there for others", async () => {
    const { run } = await ask(async (turn) => String(await turn.callTool('own', {})));
    expect((await run.result).message.content.at(-1)).to.deep.equal({ type: 'text', text: 'mine' });
    const other = await ask(
      (turn) => turn.callTool('look', {}).then(String, (error: Error) => error.message),
      {},
    );
    const { message } = await other.run.result;
    expect(message.content.at(-1)).to.deep.equal({ type: 'text', text: 'There is no tool named look' });
  });

  it('that a client declines is an error for the app', async () => {
    const { stream, session, run } = await ask((turn) =>
      turn.callTool('look', {}).then(String, (error: Error) => error.message),
    );
    const { data } = await stream.until(({ event }) => event === 'input_required');
    await session.respond(data.callId, { approved: false, reason: 'busy' });
    expect((await run.result).message.content.at(-1)).to.deep.equal({ type: 'text', text: 'Denied: busy' });
  });
});
