import { expect } from 'chai';
import { WebSocket } from 'ws';
import { defineApp, method } from '../../server/index.js';
import { connectClient, failure } from '../support/client.js';
import { startGateway } from '../support/gateway.js';

const LOST = {
  map: { found: { byName: new Map([['a', 1]]) } },
  set: [new Set([1])],
  big: { size: 1n },
} as const;

const PLACES = { map: 'found.byName', set: '0', big: 'size' } as const;

class OwnMap extends Map<string, number> {
  toJSON(): unknown {
    return [...this];
  }
}

const methods = {
  map: async () => LOST.map,
  set: async () => LOST.set,
  big: async () => LOST.big,
  empty: async () => ({ a: {}, b: [{}], own: new OwnMap([['a', 1]]) }),
  items: method({
    async *handler() {
      yield 1;
      yield LOST.map;
    },
  }),
};

async function start() {
  const app = defineApp({
    async *run(turn) {
      yield 'a';
      turn.data('lost', LOST.map);
    },
  });
  const started = await startGateway({ app, methods });
  const clients = {
    HTTP: connectClient(started.url, { transport: 'sse' }),
    WebSocket: connectClient(started.url, { transport: 'websocket', WebSocket }),
  };
  return { ...started, clients };
}

for (const wire of ['HTTP', 'WebSocket'] as const)
  describe(`a value that JSON does not carry, over ${wire}`, () => {
    for (const name of ['map', 'set', 'big'] as const)
      it(`is refused, and the log says where it is: ${name}`, async () => {
        const { clients, log } = await start();
        expect((await failure(clients[wire].invoke(name))).code).to.equal('INTERNAL');
        const [{ details }] = log.lines.filter(({ level }) => level === 'error') as any;
        expect(details.err.message).to.contain(`(at ${wire === 'HTTP' ? '' : 'payload.'}${PLACES[name]})`);
        expect(details.err.message).to.contain('codec');
      });

    it('breaks off a stream of items, behind those before it', async () => {
      const { clients } = await start();
      const seen: unknown[] = [];
      const error = await failure(
        (async () => {
          for await (const item of clients[wire].stream('items')) seen.push(item);
        })(),
      );
      expect(seen).to.deep.equal([1]);
      expect(error.code).to.equal('INTERNAL');
    });

    it('is not taken for an empty object, nor for a value that writes itself', async () => {
      const { clients } = await start();
      expect(await clients[wire].invoke('empty')).to.deep.equal({ a: {}, b: [{}], own: [['a', 1]] });
    });
  });

describe('a value of an app that JSON does not carry', () => {
  it('fails its run, and is in no log', async () => {
    const { gateway, log } = await start();
    const result = await gateway.session('main').send('go').result;
    expect(result.stopReason).to.equal('error');
    expect(result.message?.content.map(({ type }) => type)).to.deep.equal(['text']);
    expect(JSON.stringify(log.lines.map(({ details }: any) => details.err?.message))).to.contain('byName');
  });
});
