import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { transformSync } from 'esbuild';
import type { Page, Worker } from 'playwright-core';
import webPushLibrary from 'web-push';
import { clientPush } from '../../client/push/index.js';
import { webPush } from '../../server/features/notices/index.js';
import type { PushBody } from '../../shared/notices/contract.js';
import { needChromium, openPage } from '../support/browser.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';
import { begin } from './begin.js';
import { PushService } from './push-service.js';

/** As the package has it: without types, and no module. */
const WORKER = transformSync(readFileSync('client/push/worker.ts', 'utf8'), { loader: 'ts' }).code.replace(
  /export \{\s*\};?/,
  '',
);

/** A site whose pages name the session that they show, with the service worker beside them. */
async function site(): Promise<string> {
  const server = createServer(({ url = '' }, response) => {
    const isScript = url === '/push-worker.js';
    response.writeHead(200, { 'content-type': isScript ? 'text/javascript' : 'text/html' });
    response.end(isScript ? WORKER : `<title>${url}</title>`);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  closeLater(server, (it) => {
    it.closeAllConnections();
    it.close();
  });
  // Service workers are for secure contexts, which names of this host are.
  return `http://localhost:${(server.address() as AddressInfo).port}`;
}

/** Registers the service worker of a page, which goes on when that is closed. */
async function register(page: Page) {
  const origin = new URL(page.url()).origin;
  const context = page.context();
  await context.grantPermissions(['notifications'], { origin });
  // Another page of the browser's, by which it is told to pass on pushes.
  const session = await context.newCDPSession(await context.newPage());
  const found = new Promise<string>((resolve) => {
    session.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      for (const { registrationId, scopeURL } of registrations)
        if (scopeURL.startsWith(origin)) resolve(registrationId);
    });
  });
  await session.send('ServiceWorker.enable');
  await page.evaluate(async () => {
    await navigator.serviceWorker.register('/push-worker.js');
    await navigator.serviceWorker.ready;
  });
  const registrationId = await found;
  const [worker] = context.serviceWorkers();
  const deliver = async (body: PushBody): Promise<void> => {
    const data = JSON.stringify(body);
    await session.send('ServiceWorker.deliverPushMessage', { origin, registrationId, data });
  };
  return { worker: worker!, deliver };
}

const shownBy = (worker: Worker) =>
  worker.evaluate(async () => {
    const shown = await (globalThis as any).registration.getNotifications();
    return shown.map(({ title, tag, body }: Notification) => ({ title, tag, body }));
  });

/** Clicks what is shown; browsers let nobody but people do that, and open pages only then: what is to be opened is told. */
const clickOn = (worker: Worker) =>
  worker.evaluate(async () => {
    const scope = globalThis as any;
    const [notification] = await scope.registration.getNotifications();
    return new Promise<string>((resolve) => {
      scope.clients.openWindow = resolve;
      scope.dispatchEvent(
        Object.assign(new Event('notificationclick'), { notification, waitUntil: Boolean }),
      );
    });
  });

describe('pushes in Chromium', () => {
  it('are shown while the page is closed, and open the session where they are clicked', async function () {
    needChromium(this);
    const [service, origin] = [await PushService.start(), await site()];
    const { page } = await openPage(`${origin}/chat/main`);
    const { worker, deliver } = await register(page);
    const vapidKeys = webPushLibrary.generateVAPIDKeys();
    const { client } = await begin('', {
      webhooks: [],
      push: webPush({ subject: 'mailto:ops@example.com', vapidKeys }),
      url: ({ sessionId }) => `${origin}/chat/${sessionId}`,
    });
    await clientPush(client).subscribe(service.browser('phone').registration);
    await page.close();
    const { runId } = await client.send('main', 'hi').result;
    await service.until(() => service.pushed.length === 1);
    const { body } = service.pushed[0]!;
    await deliver(body);
    await until(async () => (await shownBy(worker)).length === 1);
    const shown = { title: 'Your answer is there', tag: `run_ended~${runId}`, body: '' };
    expect(await shownBy(worker)).to.deep.equal([shown]);
    // The same one again takes its place.
    await deliver(body);
    expect(await shownBy(worker)).to.deep.equal([shown]);
    expect(await clickOn(worker)).to.equal(`${origin}/chat/main`);
    expect(await shownBy(worker)).to.deep.equal([]);
  });

  it('are shown by a worker of at most 1 KiB', () => {
    expect(Buffer.byteLength(WORKER)).to.be.below(1024);
  });
});
