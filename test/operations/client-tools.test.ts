import { expect } from 'chai';
import { WebSocket } from 'ws';
import { defineApp, type GatewayConfig } from '../../server/index.js';
import { connectClient, failure } from '../support/client.js';
import { post, startGateway } from '../support/gateway.js';
import { byName } from '../support/users.js';

const weather = {
  name: 'weather',
  description: 'The weather at a place, as this device knows it',
  parameters: { type: 'object', properties: { city: { type: 'string' } } },
};

/** Calls the first tool that was brought along, and says what it was told. */
const caller = defineApp({
  async *run({ clientTools, parameters, callTool }) {
    yield `${JSON.stringify(parameters)} `;
    const [tool] = clientTools;
    if (tool) yield JSON.stringify(await callTool(tool, { city: 'Oslo' }));
  },
});

const open = (config: Omit<GatewayConfig, 'app'> = {}) => startGateway({ app: caller, ...config });
const allowed = { clientMessages: { tools: true, parameters: true } };

describe('tools and parameters of a send', () => {
  for (const transport of ['sse', 'websocket'] as const) {
    it(`reach the app, and the client answers the call (${transport})`, async () => {
      const { url } = await open(allowed);
      const session = connectClient(url, { transport, WebSocket: WebSocket as never }).session('main');
      const run = session.send('go', { clientTools: [weather], parameters: { temperature: 0.2 } });
      for await (const event of run) {
        if (event.type !== 'input_required') continue;
        expect(event).to.include({ name: 'weather' });
        expect(event.payload).to.deep.equal({ city: 'Oslo' });
        expect(event.schema).to.deep.equal(weather.parameters);
        await session.respond(event.callId, { output: { degrees: -4 } });
      }
      const { message, stopReason } = await run.result;
      expect(stopReason).to.equal('end');
      const texts = message.content.flatMap((block) => (block.type === 'text' ? [block.text] : []));
      expect(texts).to.deep.equal(['{"temperature":0.2} ', '{"degrees":-4}']);
    });
  }

  it('are refused unless the gateway allows them, by an error that names the option', async () => {
    const { url } = await open();
    const { send } = connectClient(url);
    const tools = await failure(send('main', 'x', { clientTools: [weather] }).accepted);
    expect(tools).to.include({ code: 'INVALID_PARAMS' });
    expect(tools.message).to.equal('clientTools: clients may not bring this; clientMessages.tools allows it');
    const parameters = await failure(send('main', 'x', { parameters: { temperature: 1 } }).accepted);
    expect(parameters.details).to.deep.equal([
      {
        path: 'parameters',
        message: 'clients may not bring this; clientMessages.parameters allows it',
      },
    ]);
    expect(await send('main', 'x', { clientTools: [], parameters: {} }).result).to.include({
      stopReason: 'end',
    });
  });

  it('are allowed by name', async () => {
    const { url } = await open({ clientMessages: { tools: ['clock'], parameters: ['temperature'] } });
    const send = (more: object) => post(`${url}/send`, { sessionId: 'main', message: 'x', ...more });
    const tools = await send({ clientTools: [{ name: 'clock' }, weather] });
    expect(tools.body.error.details).to.deep.equal([
      {
        path: 'clientTools.1.name',
        message: 'clients may not bring "weather"; clientMessages.tools allows it',
      },
    ]);
    const parameters = await send({ parameters: { temperature: 1, model: 'dear' } });
    expect(parameters.status).to.equal(400);
    expect(parameters.body.error.details[0].path).to.equal('parameters.model');
    expect((await send({ parameters: { temperature: 1 } })).body.stopReason).to.equal('end');
  });

  it('are allowed to a user at an app; a rule that fails allows nothing and is reported', async () => {
    const { url, log } = await startGateway({
      apps: { open: caller, closed: caller, broken: caller },
      defaultApp: 'open',
      auth: byName,
      clientMessages: {
        parameters: async (user, app) => {
          if (app === 'broken') throw new Error('the rules are gone');
          return app === 'open' && (user.id === 'ann' ? true : ['seed']);
        },
      },
    });
    const ask = async (user: string, sessionId: string, parameters: object) =>
      (
        await post(
          `${url}/send`,
          { sessionId, message: 'x', parameters },
          { authorization: `Bearer ${user}` },
        )
      ).status;
    expect(await ask('ann', 'main', { temperature: 1 })).to.equal(200);
    expect(await ask('ann', 'closed:main', { temperature: 1 })).to.equal(400);
    expect(await ask('bob', 'main', { temperature: 1 })).to.equal(400);
    expect(await ask('bob', 'main', { seed: 1 })).to.equal(200);
    expect(await ask('ann', 'broken:main', { seed: 1 })).to.equal(400);
    const failures = log.lines.filter(({ level }) => level === 'error').map(({ message }) => message);
    expect(failures).to.deep.equal(['clientMessages.parameters failed']);
  });

  it('are checked by named fields and bounded in number, for clients and host code', async () => {
    const { url, gateway } = await open({ ...allowed, limits: { clientToolsPerSend: 2 } });
    const { send } = connectClient(url);
    const refused = async (clientTools: unknown) =>
      (await failure(send('main', 'x', { clientTools: clientTools as never }).accepted)).details;
    expect(await refused([{ name: 'a', handler: 'b' }])).to.have.nested.property(
      '[0].path',
      'clientTools.0.handler',
    );
    expect(await refused([{ name: '' }])).to.have.nested.property('[0].path', 'clientTools.0.name');
    expect(await refused([weather, weather])).to.deep.equal([
      { path: 'clientTools.1.name', message: 'another tool has this name' },
    ]);
    const many = ['a', 'b', 'c'].map((name) => ({ name }));
    expect(await refused(many)).to.deep.equal([
      { path: 'clientTools', message: 'must have at most 2 tools (limits.clientToolsPerSend), not 3' },
    ]);
    const host = gateway.session('main', { user: { id: 'token' } });
    expect(await failure(host.send('x', { clientTools: many }).accepted)).to.include({
      code: 'INVALID_PARAMS',
    });
  });

  it('belong to what an idempotency key stands for', async () => {
    const { url } = await open(allowed);
    const { send } = connectClient(url);
    const options = { idempotencyKey: 'k', parameters: { temperature: 0, seed: 1 } };
    const first = await send('main', 'x', options).accepted;
    const again = await send('main', { id: 'k', content: 'x' }, options).accepted;
    expect(again.runId).to.equal(first.runId);
    const other = await failure(send('main', 'x', { ...options, parameters: { temperature: 1 } }).accepted);
    expect(other).to.include({ code: 'IDEMPOTENCY_CONFLICT' });
  });
});
