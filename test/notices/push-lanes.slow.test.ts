import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import webPushLibrary from 'web-push';
import { clientPush } from '../../client/push/index.js';
import { webPush } from '../../server/features/notices/index.js';
import { memoryStore } from '../../server/stores/memory.js';
import { PEOPLE } from '../inbox/begin.js';
import { connectClient } from '../support/client.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';
import { begin } from './begin.js';
import { PushService, TestBrowser } from './push-service.js';
import { counted } from './seen.js';

describe('pushes', () => {
  for (const [who, people, browsers, sessions] of [
    ['one person with 16 browsers', 1, 16, 3],
    ['many people', 20, 1, 2],
  ] as const)
    it(`to a service that never answers keep nobody else waiting: ${who}`, async () => {
      const [service, silent] = [await PushService.start(), await silentService()];
      const store = memoryStore();
      const push = webPush({
        subject: 'mailto:o@example.com',
        vapidKeys: webPushLibrary.generateVAPIDKeys(),
      });
      const { gateway, url } = await begin('', { webhooks: [], push }, { auth: PEOPLE, store });
      const ann = connectClient(url, { token: 'ann' });
      await clientPush(ann).subscribe(service.browser('ann').registration);
      for (let i = 0; i < people; i++) {
        const client = connectClient(url, { token: `user${i}` });
        for (let j = 0; j < browsers; j++)
          await clientPush(client).subscribe(new TestBrowser(`${silent.url}/${i}.${j}`).registration);
        for (let j = 0; j < sessions; j++) await client.send(`s${j}`, 'hi').result;
      }
      // Each delivery has begun, or was put off.
      const homes = Array.from({ length: people * sessions }, (_, i) => ({
        ...{ scope: `[null,"user${Math.floor(i / sessions)}"]`, app: 'default', name: `s${i % sessions}` },
      }));
      await until(async () => {
        const records = await Promise.all(homes.map((home) => store.records({ home, limit: 99 })));
        const owed = records.flat().filter(({ dueAt }) => dueAt !== undefined);
        return (
          owed.length === people * browsers * sessions && owed.every(({ dueAt = 0 }) => dueAt > Date.now())
        );
      });
      await ann.send('main', 'hi').result;
      await service.until(() => service.pushed.length === 1);
      // Nobody had to wait for the end of an attempt.
      expect(counted(gateway, 'failed')).to.equal(0);
    });
});

/** A push service that takes every push and says nothing. */
async function silentService() {
  let asked = 0;
  const server = createServer(() => {
    asked += 1;
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeLater(server, (it) => {
    it.closeAllConnections();
    it.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked };
}
