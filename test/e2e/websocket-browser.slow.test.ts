import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'chai';
import { type Application, defineApp } from '../../server/index.js';
import { BROWSERS } from '../support/browser.js';
import { CuttingProxy } from '../support/cutting-proxy.js';
import { todays } from '../support/daily.js';
import { openStream } from '../support/sse-client.js';
import { until } from '../support/until.js';
import { servePage } from './page-host.js';

const PIECES = 200;
const piece = (index: number): string => `${index} é 漢字 👩‍👩‍👧 `;

/** Streams many pieces; at some of them it calls out, so that the test cuts in the middle for certain. */
function longApp(at: readonly number[], cut: () => void | Promise<void>): Application {
  return defineApp({
    async *run(turn) {
      for (let index = 0; index < PIECES; index++) {
        if (at.includes(index)) await cut();
        await delay(3, undefined, { signal: turn.signal });
        yield piece(index);
      }
    },
  });
}

async function readLog(url: string): Promise<{ type: string; [field: string]: unknown }[]> {
  const stream = await openStream(`${url}/agent/events?sessionId=main&from=earliest`);
  await stream.until(({ event }) => event === 'message_end');
  return stream.logged.map(({ event, data }) => ({ ...data, type: event }));
}

/** The browser's own WebSocket, and what anybody would write around it. */
const NATIVE_PAGE = `
import { EventReader } from 'agent-session-gateway/protocol';
globalThis.seen = [];
globalThis.opened = 0;
let cursor;
function open() {
  const socket = new WebSocket(location.origin.replace('http', 'ws') + '/agent/ws');
  socket.onopen = () => {
    const target = cursor ? { sessionId: 'main', cursor } : { sessionId: 'main', from: 'earliest' };
    socket.send(JSON.stringify({ type: 'connect', protocol: { min: 1, max: 1 }, subscribe: [target] }));
  };
  const reader = new EventReader();
  socket.onmessage = ({ data }) => {
    const frame = JSON.parse(data);
    if (frame.event === 'connected') {
      globalThis.opened += 1;
      if (!cursor && globalThis.opened === 1) {
        socket.send(JSON.stringify({ type: 'req', id: '1', method: 'send', params: { sessionId: 'main', message: 'go' } }));
      }
    }
    if (!frame.event) return;
    const event = reader.read(frame.event, frame.data, frame.id);
    if (['connected', 'heartbeat'].includes(event.type)) return;
    cursor = event.cursor;
    globalThis.seen.push(event);
    if (frame.event === 'message_end') globalThis.finished = true;
  };
  socket.onclose = () => !globalThis.finished && setTimeout(open, 20);
}
open();
`;

const CLIENT_PAGE = `
import { createClient } from 'agent-session-gateway/client';
globalThis.seen = [];
const client = createClient({ baseUrl: '/agent', transport: 'auto' });
(async () => {
  const run = client.send('main', 'go');
  for await (const event of client.events('main', { from: 'earliest' })) {
    globalThis.seen.push(event);
    if (event.type === 'message_end') break;
  }
  globalThis.result = await run.result;
  globalThis.finished = true;
})();
`;

declare global {
  var opened: number;
  var result: { readonly stopReason: string };
}

for (const { name, need, open } of todays(BROWSERS, BROWSERS.length))
  describe(`a real browser with WebSockets (${name})`, () => {
    before(function () {
      need(this);
    });

    it('resumes with its own WebSocket through cuts, equal and complete', async () => {
      let proxy: CuttingProxy | undefined;
      const url = await servePage(NATIVE_PAGE, {
        app: longApp([40, 90, 150], () => {
          // The sockets that follow break again at odd bytes.
          proxy?.cuts.push(1777);
          proxy?.cutAll();
        }),
      });
      proxy = await CuttingProxy.start(url);
      const { page, problems } = await open(proxy.url);
      await page.waitForFunction(() => globalThis.finished === true);
      expect(await page.evaluate(() => globalThis.seen)).to.deep.equal(await readLog(url));
      expect(await page.evaluate(() => globalThis.opened)).to.be.at.least(4);
      // Firefox says so of a connection that is cut before it is open.
      const cut = /can.t establish a connection to the server/;
      expect(problems.filter((it) => !cut.test(it))).to.deep.equal([]);
    });

    it('resumes with the client, which takes a WebSocket by itself', async () => {
      const transports: string[] = [];
      const sockets = (): number => transports.filter((name) => name === 'websocket').length;
      let cuts = 0;
      let proxy: CuttingProxy | undefined;
      const url = await servePage(
        CLIENT_PAGE,
        {
          app: longApp([40, 150], async () => {
            // On a slow machine it may not be there yet.
            cuts += 1;
            await until(() => sockets() >= cuts);
            proxy?.cutAll();
          }),
        },
        (gateway) => gateway.on('client:connected', ({ transport }) => transports.push(transport)),
      );
      proxy = await CuttingProxy.start(url);
      const { page, problems } = await open(proxy.url);
      await page.waitForFunction(() => globalThis.finished === true);
      const log = await readLog(url);
      expect(await page.evaluate(() => globalThis.seen)).to.deep.equal(log);
      expect(log.filter(({ type }) => type === 'message_accepted').length).to.equal(1);
      expect((await page.evaluate(() => globalThis.result)).stopReason).to.equal('end');
      await until(() => sockets() >= 3);
      expect(problems).to.deep.equal([]);
    });
  });
