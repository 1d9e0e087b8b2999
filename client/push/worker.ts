// A service worker that shows notices and opens their sessions. Serve it by itself, or import it into another one.
const worker = globalThis as any;

worker.addEventListener?.('push', (event: any) => {
  const { id, title, body, ...data } = event.data?.json() ?? {};
  if (id) event.waitUntil(worker.registration.showNotification(title, { body, data, tag: id }));
});

worker.addEventListener?.('notificationclick', (event: any) => {
  const { registration, clients } = worker;
  const { href } = new URL(event.notification.data?.url ?? '', registration.scope);
  event.notification.close();
  event.waitUntil(
    clients
      .matchAll({ type: 'window', includeUncontrolled: true })
      .then((pages: any[]) => pages.find(({ url }) => url === href)?.focus() ?? clients.openWindow(href)),
  );
});

/** The payload of a push. */
export type { PushBody } from '../../shared/notices/contract.js';
