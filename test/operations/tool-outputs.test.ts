import { expect } from 'chai';
import { defineApp, tool } from '../../server/index.js';
import { textOf } from '../../shared/messages.js';
import { connectClient, failure } from '../support/client.js';
import { newDatabase, startDurable } from '../support/durable.js';
import { startGateway } from '../support/gateway.js';

/** Looks up two cities, and says what it found. */
const forecaster = (called: string[]) =>
  defineApp({
    tools: {
      weather: tool({
        handler: (input: unknown) => {
          const { city } = input as { city: string };
          called.push(city);
          return { sky: 'clear' };
        },
      }),
    },
    async *run(turn) {
      const [oslo, rome] = [
        await turn.callTool('weather', { city: 'Oslo' } as never),
        await turn.callTool('weather', { city: 'Rome' } as never),
      ].map((found) => (found as { sky: string }).sky);
      yield `Oslo ${oslo}, Rome ${rome}`;
    },
  });

const RAIN = { name: 'weather', input: { city: 'Oslo' }, output: { sky: 'rainy' } };

describe('outputs of tools that are given to a run', () => {
  it('take the place of calls with the same input, in the log too, and of no others', async () => {
    const called: string[] = [];
    const { url } = await startGateway({
      app: forecaster(called),
      clientMessages: { toolOutputs: ['weather'] },
    });
    const session = connectClient(url).session('main');
    const first = await session.send('and?').result;
    expect(textOf(first.message)).to.equal('Oslo clear, Rome clear');
    expect(called.splice(0)).to.deep.equal(['Oslo', 'Rome']);
    const again = await session.regenerate(undefined, { toolOutputs: [RAIN] }).result;
    expect(textOf(again.message)).to.equal('Oslo rainy, Rome clear');
    expect(called.splice(0)).to.deep.equal(['Rome']);
    const results = again.message.content.filter((block) => block.type === 'tool_result');
    expect(results.map(({ output }) => output)).to.deep.equal([{ sky: 'rainy' }, { sky: 'clear' }]);
    const { messages } = await session.history();
    const fork = connectClient(url).session((await session.fork('other', { at: messages[0]!.id })).sessionId);
    const all = { name: 'weather', output: { sky: 'foggy' } };
    const edited = await fork.edit(messages[0]!.id, 'and?', { toolOutputs: [all] }).result;
    expect(textOf(edited.message)).to.equal('Oslo foggy, Rome foggy');
    expect(called).to.deep.equal([]);
  });

  it('are taken from those clients alone whom the gateway lets say them, by the names of tools', async () => {
    for (const toolOutputs of [undefined, false, ['other'], () => false]) {
      const called: string[] = [];
      const { url } = await startGateway({ app: forecaster(called), clientMessages: { toolOutputs } });
      const session = connectClient(url).session('main');
      const error = await failure(session.send('and?', { toolOutputs: [RAIN] }).accepted);
      expect(error).to.include({ code: 'INVALID_PARAMS' });
      expect(JSON.stringify(error.details)).to.include('clientMessages.toolOutputs');
      expect(called).to.deep.equal([]);
    }
  });

  it('are given to a run that goes on in another process too', async () => {
    const path = newDatabase();
    const called: string[] = [];
    let begun = () => {};
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const { run: forecast, tools } = forecaster(called);
    const app = defineApp({
      resumable: true,
      ...(tools && { tools }),
      async *run(turn) {
        if (!turn.resumed) {
          yield '';
          begun();
          await new Promise((_, reject) => turn.signal.addEventListener('abort', reject));
        }
        yield* forecast(turn as never) as AsyncIterable<string>;
      },
    });
    const clientMessages = { toolOutputs: true };
    const first = await startDurable(path, { app, clientMessages });
    const session = connectClient(first.url).session('main');
    await session.send('and?', { toolOutputs: [RAIN] }).accepted;
    await hasBegun;
    await first.gateway.close();
    const second = await startDurable(path, { app, clientMessages });
    // A client of the first would wait before it tries again.
    const events = connectClient(second.url).session('main').events({ from: 'earliest' });
    for await (const event of events) {
      if (event.type !== 'message_end') continue;
      expect(textOf(event.message!)).to.equal('Oslo rainy, Rome clear');
      break;
    }
    expect(called).to.deep.equal(['Rome']);
  });
});
