import { expect } from 'chai';
import { createClient } from '../../client/index.js';
import type { GatewayEvent } from '../../shared/events.js';
import { textOf } from '../../shared/messages.js';
import { type Program, runProgram } from '../support/program.js';
import { closeLater } from '../support/resources.js';

const TOKEN = 'a-demo-token-of-more-than-32-bytes';

async function startDemo(port: string): Promise<{ program: Program; url: string }> {
  const program = runProgram('server/demo/main.ts', { env: { PORT: port, GATEWAY_TOKEN: TOKEN } });
  const [, url] = await program.prints(/^ {2}URL +(http\S+)\n/m);
  return { program, url: url! };
}

describe('kill -9 of a gateway that keeps its sessions in memory', () => {
  it('tells the clients of the gap, gives the lost run an end and goes on', async () => {
    const { program, url } = await startDemo('0');
    const client = closeLater(createClient({ baseUrl: url, token: TOKEN }), (it) => it.disconnect());
    const events = client.events('main');
    const run = client.send('main', 'story');
    const before: GatewayEvent[] = [];
    for await (const event of { [Symbol.asyncIterator]: () => ({ next: () => events.next() }) }) {
      before.push(event);
      if (event.type === 'content_delta' && before.length > 10) break;
    }
    expect(await program.kill('SIGKILL')).to.equal('SIGKILL');
    await startDemo(new URL(url).port);

    // What had arrived before the end may still be waiting in the iterator.
    let next = await events.next();
    while (next.value.type === 'content_delta') next = await events.next();
    const { value: gap } = next;
    expect(gap).to.include({ type: 'gap', sessionId: 'main', reason: 'epoch', epoch: null });
    const { value: snapshot } = await events.next();
    expect(snapshot).to.deep.include({ type: 'snapshot', sessionId: 'main' });
    expect(snapshot.state).to.deep.include({ messages: [], run: null });
    expect((await run.result).stopReason).to.equal('lost');

    const again = client.send('main', 'weather in Oslo');
    const after: GatewayEvent[] = [];
    for await (const event of events) {
      after.push(event);
      if (event.type === 'message_end') break;
    }
    expect(after[0]).to.include({ type: 'message_accepted' });
    expect(after.filter(({ type }) => type === 'gap' || type === 'snapshot')).to.deep.equal([]);
    expect(textOf((await again.result).message)).to.equal('Let me look. It is cloudy in Oslo, 20 °C.');
  });
});
