import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import {
  modelFetch,
  type RecordedCall,
  type RecordedTurn,
  recording,
} from '../../server/features/recording/index.js';
import type { Application } from '../../server/index.js';
import { textOf } from '../../shared/messages.js';
import { testGateways } from '../../testing/index.js';
import { gate } from '../support/gate.js';
import { closeLater } from '../support/resources.js';

const start = testGateways(afterEach);

/** Runs an app whose model's endpoint the test writes, and returns its record. */
async function recorded(
  answer: (response: ServerResponse) => unknown,
  run: (url: string) => ReturnType<Application['run']>,
) {
  const server = createServer((request, response) => {
    request.resume();
    response.setHeader('content-type', 'text/event-stream').setHeader('x-request-id', '7');
    answer(response);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeLater(server, (it) => {
    it.close();
    it.closeAllConnections();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1/chat`;
  const turns: RecordedTurn[] = [];
  const it = await start({ app: recording({ run: () => run(url) }, { to: (turn) => turns.push(turn) }) });
  const { message, stopReason } = await it.client().send('main', 'Go').result;
  return { text: textOf(message), stopReason, calls: turns[0]!.calls };
}

const asked = (url: string): Promise<Response> =>
  modelFetch(url, { method: 'POST', body: '{"model":"m","apiKey":"x"}' });
const outputs = (calls: readonly RecordedCall[]): unknown[] => calls.map(({ output }) => output);
const whole = (body: string) => ({ status: 200, contentType: 'text/event-stream', body });

describe('an answer of a model that is recorded', () => {
  it('reaches the app piece by piece, with its headers, and is in the record as a whole', async () => {
    const seen = gate();
    const { text, calls } = await recorded(
      async (response) => {
        response.write('Gr\u00fc\u00df');
        // The rest is not said before the app has the beginning.
        await seen.passed;
        response.end('e');
      },
      async function* (url) {
        const response = await asked(url);
        yield `${response.status} ${response.headers.get('x-request-id')} `;
        for await (const piece of response.body!.pipeThrough(new TextDecoderStream())) {
          seen.open();
          yield piece;
        }
      },
    );
    expect(text).to.equal('200 7 Gr\u00fc\u00dfe');
    expect(calls).to.deep.equal([
      {
        ...{ kind: 'model', name: '/v1/chat', input: { model: 'm', apiKey: '[left out]' } },
        output: whole('Gr\u00fc\u00dfe'),
      },
    ]);
  });

  it('is there as far as the app has read it, and no further', async () => {
    for (const leaves of [true, false]) {
      const closed = gate();
      const { calls } = await recorded(
        (response) => {
          response.write('One');
          response.once('close', closed.open);
        },
        async (url) => {
          const reader = (await asked(url)).body!.getReader();
          await reader.read();
          if (leaves) await reader.cancel();
          return 'Enough';
        },
      );
      expect(outputs(calls)).to.deep.equal([whole('One')]);
      if (leaves) await closed.passed;
    }
  });

  it('has no body where the endpoint sent none', async () => {
    const { calls } = await recorded(
      (response) => response.writeHead(204).end(),
      async (url) => `${(await asked(url)).status}`,
    );
    expect(outputs(calls)).to.deep.equal([{ ...whole(''), status: 204 }]);
  });

  it('is an error if it breaks off, or never comes', async () => {
    for (const answer of [
      (response: ServerResponse) => response.write('One', () => response.destroy()),
      (response: ServerResponse) => response.destroy(),
    ]) {
      const { stopReason, calls } = await recorded(answer, async (url) => (await asked(url)).text());
      expect(stopReason).to.equal('error');
      expect(calls).to.have.length(1);
      expect(calls[0]).to.include.keys('error').and.not.include.keys('output');
    }
  });
});
