import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { expect } from 'chai';
import { createGateway, defineApp } from '../../../server/index.js';

// Node keeps two listeners in a list that V8 moves to its old generation, with the request it leads to: each scavenge then took seven times
// as long, and a call a third more.
describe('an answer to a call', () => {
  it('is listened to once for its end', async () => {
    let answer: ServerResponse | undefined;
    const seen = (message: unknown): void => {
      answer = (message as { response: ServerResponse }).response;
    };
    let listeners: number | undefined;
    const gateway = createGateway({
      app: defineApp({ async *run() {} }),
      port: 0,
      auth: { type: 'none' },
      methods: {
        ping: async () => {
          listeners = answer?.listenerCount('close');
          return 'pong';
        },
      },
    });
    subscribe('http.server.request.start', seen);
    try {
      const { url } = await gateway.start();
      const response = await fetch(`${url}/invoke`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ method: 'ping' }),
      });
      expect(await response.json()).to.equal('pong');
      expect(listeners).to.equal(1);
    } finally {
      unsubscribe('http.server.request.start', seen);
      await gateway.close();
    }
  });
});
