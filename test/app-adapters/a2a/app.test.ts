import { expect } from 'chai';
import { type A2aAppOptions, a2aApp } from '../../../server/app-adapters/a2a/index.js';
import { textOf } from '../../../shared/messages.js';
import { gate } from '../../support/gate.js';
import { follow, serve } from '../served.js';
import { data, file, ServedAgent, text } from './served-agent.js';

const start = async (options: Partial<A2aAppOptions> = {}, served = {}) => {
  const agent = await ServedAgent.start(served);
  return { agent, ...(await serve(a2aApp({ url: agent.url, ...options }) as never)) };
};

describe('an app that answers with an agent of A2A', () => {
  for (const served of [{}, { rest: true }, { version: '0.3' }])
    it(`streams artifacts as they come (${JSON.stringify(served)}); what the task thinks is reasoning, values and files are data`, async () => {
      const { agent, client } = await start({}, served);
      const run = client.send('main', 'Hello');
      const first = gate<string>();
      const seen = follow(run, (event) => event.type === 'content_delta' && first.open(event.delta));
      const turn = await agent.next();
      expect(turn.parts).to.deep.equal(['Hello']);
      turn.begin().state('TASK_STATE_WORKING', text('I look.')).artifact('a', false, text('Hi '));
      expect(await first.passed).to.equal('Hi ');
      turn.artifact('a', true, text('there'));
      turn.artifact('b', false, text('Two'), data({ n: 1 }), file('https://example.com/x.png'));
      turn.complete();
      expect((await seen).slice(0, 2)).to.deep.equal([
        ['reasoning_delta', 'I look.'],
        ['content_delta', 'Hi '],
      ]);
      const { message, stopReason } = await run.result;
      expect(stopReason).to.equal('end');
      expect(message.content).to.deep.equal([
        { type: 'reasoning', text: 'I look.' },
        { type: 'text', text: 'Hi there\n\nTwo' },
        { type: 'data', id: 'b:0', name: 'answer', value: { n: 1 } },
        {
          ...{ type: 'data', id: 'b:1', name: 'file' },
          value: { mediaType: 'image/png', url: 'https://example.com/x.png' },
        },
      ]);
    });

  it('goes on in the context that the agent gave; an answer may be a message alone', async () => {
    const { agent, client } = await start();
    const first = client.send('main', 'One');
    const one = await agent.next();
    one.message(text('1'));
    expect(textOf((await first.result).message)).to.equal('1');
    const second = client.send('main', 'Two');
    const two = await agent.next();
    two.begin().complete(text('2'));
    expect(textOf((await second.result).message)).to.equal('2');
    const third = client.send('main', 'Three');
    const three = await agent.next();
    expect(three.context.contextId).to.equal(two.context.contextId);
    expect(three.context.taskId).to.not.equal(two.context.taskId);
    three.begin().complete();
    await third.result;
    const other = client.send('other', 'One');
    const elsewhere = await agent.next();
    expect(elsewhere.context.contextId).to.not.equal(two.context.contextId);
    elsewhere.begin().complete();
    await other.result;
  });

  it('asks people what the task needs, and sends their answers to it', async () => {
    const { agent, client } = await start();
    const session = client.session('main');
    const run = session.send('Book');
    const answers: unknown[] = [];
    const signedIn = gate();
    const told = follow(run, async (event) => {
      if (event.type === 'tool_confirmation_required') return void (await session.deny(event.callId, 'no'));
      if (event.type !== 'input_required') return;
      answers.push([event.name, event.payload]);
      await session.respond(event.callId, { output: event.name === 'authorization' ? true : 'Rome' });
      if (event.name === 'authorization') signedIn.open();
    });
    const one = await agent.next();
    one.begin().artifact('a', false, text('Well.'));
    one.state('TASK_STATE_INPUT_REQUIRED', text('Where?'), data({ of: ['Rome', 'Oslo'] })).end();
    const two = await agent.next();
    expect(two.context.taskId).to.equal(one.context.taskId);
    expect(two.parts).to.deep.equal(['Rome']);
    two.begin().state('TASK_STATE_WORKING');
    const confirmation = {
      kind: 'confirmation',
      callId: 'c9',
      name: 'pay',
      input: { sum: 3 },
      message: 'Pay?',
    };
    two.state('TASK_STATE_INPUT_REQUIRED', data(confirmation)).end();
    const three = await agent.next();
    expect(three.parts).to.deep.equal([{ callId: 'c9', approved: false, reason: 'no' }]);
    three.begin().state('TASK_STATE_WORKING').state('TASK_STATE_AUTH_REQUIRED', text('Sign in at …'));
    await signedIn.passed;
    three.state('TASK_STATE_WORKING').artifact('b', false, text('Booked.')).complete();
    expect((await told).filter(([type]) => type === 'tool_confirmation_required')).to.have.length(1);
    expect(answers).to.deep.equal([
      ['input', { message: 'Where?', data: [{ of: ['Rome', 'Oslo'] }] }],
      ['authorization', { message: 'Sign in at …' }],
    ]);
    const { message, stopReason } = await run.result;
    expect([textOf(message), stopReason]).to.deep.equal(['Well.\n\nBooked.', 'end']);
  });

  it('cancels the task when a question is declined, and when the run is aborted', async () => {
    const { agent, client } = await start();
    const session = client.session('main');
    const asking = session.send('Book');
    const declined = follow(asking, async (event) => {
      if (event.type === 'input_required') await session.deny(event.callId);
    });
    const one = await agent.next();
    one.begin().state('TASK_STATE_INPUT_REQUIRED', text('Where?')).end();
    expect((await declined).at(-1)).to.deep.equal(['message_end', 'end']);
    const run = session.send('Write');
    const two = await agent.next();
    two.begin().artifact('a', false, text('Well, '));
    await run.text[Symbol.asyncIterator]().next();
    await run.abort();
    await agent.until(() => agent.cancelled.length === 2);
    expect(agent.cancelled).to.deep.equal([one.context.taskId, two.context.taskId]);
    const { message, stopReason } = await run.result;
    expect([stopReason, textOf(message)]).to.deep.equal(['aborted', 'Well, ']);
  });

  it('takes a task up where its stream was cut, as often as it is', async () => {
    const { agent, client } = await start();
    const run = client.send('main', 'Tell');
    const text0 = run.text[Symbol.asyncIterator]();
    const turn = await agent.next();
    turn.begin();
    let said = '';
    for (const [nth, piece] of ['Once ', 'upon ', 'a ', 'time'].entries()) {
      turn.artifact('a', nth > 0, text(piece));
      while (said !== ['Once ', 'upon ', 'a ', 'time'].slice(0, nth + 1).join(''))
        said += (await text0.next()).value;
      agent.cut();
    }
    turn.complete();
    const { message, stopReason } = await run.result;
    expect([textOf(message), stopReason]).to.deep.equal(['Once upon a time', 'end']);
    expect(agent.turns).to.have.length(1);
  });

  it('asks for the task again and again where the agent does not stream', async () => {
    const { agent, client } = await start({}, { streaming: false });
    const run = client.send('main', 'Tell');
    const turn = await agent.next();
    turn.begin().artifact('a', false, text('Half'));
    expect((await run.text[Symbol.asyncIterator]().next()).value).to.equal('Half');
    turn.artifact('a', true, text(' and whole')).complete();
    expect(textOf((await run.result).message)).to.equal('Half and whole');
  });

  it('sends its headers to its own origin alone, and follows a card to none that the host has not named', async () => {
    const elsewhere = await ServedAgent.start();
    const { agent, client } = await start({ headers: { authorization: 'Bearer x' } });
    const supportedInterfaces = [
      { url: `${elsewhere.url}/a2a`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
    ];
    agent.card = {
      ...{ name: 'A', description: '', version: '1', supportedInterfaces, skills: [] },
      ...{ capabilities: { streaming: true }, defaultInputModes: [], defaultOutputModes: [] },
    };
    const told = await follow(client.send('main', 'Hello'));
    expect(told[0]!.slice(0, 2)).to.deep.equal(['run_error', 'APP_REPLY_INVALID']);
    expect(elsewhere.requests).to.have.length(0);
    expect(agent.requests[0]!.headers.authorization).to.equal('Bearer x');
    const named = await serve(a2aApp({ url: agent.url, origins: [elsewhere.url] }) as never);
    const run = named.client.send('main', 'Hello');
    (await elsewhere.next()).message(text('Hi'));
    expect(textOf((await run.result).message)).to.equal('Hi');
  });

  it('refuses an option that is none, by its name', () => {
    expect(() => a2aApp({ url: 'agent' })).to.throw(/url/);
    expect(() => a2aApp({ url: 'http://127.0.0.1/', origins: ['x'] })).to.throw(/origins\.0/);
    expect(() => a2aApp({ url: 'http://127.0.0.1/', silenceMs: -1 })).to.throw(/silenceMs/);
  });
});
