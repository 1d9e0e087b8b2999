import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { ServerResponse } from 'node:http';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { defineApp, memoryStore } from '../../server/index.js';
import { gatesByName } from '../support/gate.js';
import { get, jsonHeaders, post, startGateway, TOKEN } from '../support/gateway.js';
import { heldStore } from '../support/held-store.js';
import { closeLater } from '../support/resources.js';
import { openStream } from '../support/sse-client.js';

/** Runs go on until the test lets them, and are aborted a moment after their last viewer has left. */
async function setUp({ disconnectGraceMs = 20, store = memoryStore() } = {}) {
  const door = gatesByName();
  const app = defineApp({
    onDisconnect: 'abort',
    async *run(turn) {
      yield 'begun';
      await door(turn.text).passed;
      yield ' done';
    },
  });
  const { url, gateway } = await startGateway({ app, store, limits: { disconnectGraceMs } });
  const started = (): Promise<void> =>
    new Promise((resolve) => {
      const off = gateway.on('run:started', () => {
        off();
        resolve();
      });
    });
  return { url, gateway, door, started };
}

/** Sends a message for the JSON of its run; call what it returns to leave before that is there. */
function sendFor(url: string): () => void {
  const leaving = new AbortController();
  fetch(`${url}/send`, {
    method: 'POST',
    headers: { ...jsonHeaders(), accept: 'application/json' },
    body: JSON.stringify({ sessionId: 'main', message: 'a' }),
    signal: leaving.signal,
  }).catch(() => {});
  return () => leaving.abort();
}

describe('onDisconnect: abort', () => {
  it('does not take the end of one run’s stream for a departure from the next', async () => {
    const { url, door, started } = await setUp();
    const first = started();
    const a = fetch(`${url}/send`, {
      method: 'POST',
      headers: jsonHeaders(),
      body: JSON.stringify({ sessionId: 'main', message: 'a' }),
    }).then((response) => response.text());
    await first;
    const second = started();
    const b = post(`${url}/send`, { sessionId: 'main', message: 'b' });
    door('a').open();
    expect(await a).to.include('event: message_end');
    await second;
    await delay(80);
    door('b').open();
    expect((await b).body.stopReason).to.equal('end');
  });

  it('counts a caller who waits for the JSON of its run, and aborts when that leaves', async () => {
    const { url, gateway, door, started } = await setUp();
    const begun = started();
    const watching = await openStream(`${url}/events?sessionId=main&token=${TOKEN}`);
    const leave = sendFor(url);
    await begun;
    watching.close();
    await delay(80);
    expect((await get(`${url}/status?sessionId=main`)).body.status, 'somebody waits for it').to.equal(
      'running',
    );
    const ended = new Promise<string>((resolve) =>
      gateway.on('run:ended', ({ stopReason }) => resolve(stopReason)),
    );
    leave();
    expect(await ended).to.equal('aborted');
    door('a').open();
  });

  it('aborts where that has left before its message was accepted', async () => {
    const held = heldStore(memoryStore());
    const { url, gateway } = await setUp({ store: held.store });
    const appending = held.hold();
    const gone = new Promise<void>((resolve) => {
      const listener = ({ response }: { readonly response: ServerResponse }) =>
        response.once('close', resolve);
      subscribe('http.server.request.start', listener as never);
      closeLater(listener, (it) => void unsubscribe('http.server.request.start', it as never));
    });
    const leave = sendFor(url);
    await appending;
    const ended = new Promise<string>((resolve) =>
      gateway.on('run:ended', ({ stopReason }) => resolve(stopReason)),
    );
    leave();
    await gone;
    held.release();
    expect(await ended).to.equal('aborted');
  });

  it('never, with a grace of Infinity', async () => {
    const { url, door } = await setUp({ disconnectGraceMs: Number.POSITIVE_INFINITY });
    const watching = await openStream(`${url}/events?sessionId=main&token=${TOKEN}`);
    await post(`${url}/send`, { sessionId: 'main', message: 'a' }, { prefer: 'respond-async' });
    await watching.until(({ event }) => event === 'content_delta');
    watching.close();
    await delay(80);
    expect((await get(`${url}/status?sessionId=main`)).body.status).to.equal('running');
    door('a').open();
  });
});
