import { createECDH, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import type { BrowserSubscription, PushRegistration } from '../../client/push/index.js';
import type { PushBody } from '../../shared/notices/contract.js';
import { closeLater } from '../support/resources.js';

/** What browsers decrypt pushes by (RFC 8188, RFC 8291). */
const { decrypt } = createRequire(import.meta.url)('http_ece') as {
  decrypt(body: Buffer, keys: object): Buffer;
};

/** A push as a browser reads it. */
export interface Pushed {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: PushBody;
}

/** A browser that is subscribed to a push service of the tests', and can read what comes. */
export class TestBrowser implements BrowserSubscription {
  readonly endpoint: string;
  readonly keys = createECDH('prime256v1');
  readonly auth = randomBytes(16);
  options: { applicationServerKey: ArrayBuffer | null } = { applicationServerKey: null };

  constructor(endpoint: string) {
    this.endpoint = endpoint;
    this.keys.generateKeys();
  }

  toJSON() {
    const p256dh = this.keys.getPublicKey('base64url');
    return { endpoint: this.endpoint, keys: { p256dh, auth: this.auth.toString('base64url') } };
  }

  isSubscribed = false;

  async unsubscribe(): Promise<boolean> {
    this.isSubscribed = false;
    return true;
  }

  /** As a page has it: the service worker's registration. */
  get registration(): PushRegistration {
    return {
      pushManager: {
        getSubscription: async () => (this.isSubscribed ? this : null),
        subscribe: async ({ applicationServerKey }) => {
          const key = new Uint8Array(Buffer.from(applicationServerKey, 'base64url'));
          this.options = { applicationServerKey: key.buffer };
          this.isSubscribed = true;
          return this;
        },
      },
    };
  }

  read(body: Buffer): PushBody {
    const text = decrypt(body, { version: 'aes128gcm', privateKey: this.keys, authSecret: this.auth });
    return JSON.parse(text.toString('utf8')) as PushBody;
  }
}

/** A push service: it has a browser for each path. */
export class PushService {
  readonly pushed: Pushed[] = [];
  readonly #browsers = new Map<string, TestBrowser>();
  status = 201;
  url = '';
  #told = (): void => {};

  static async start(): Promise<PushService> {
    const service = new PushService();
    const server = createServer(async (request, response) => {
      const { url: path = '', headers } = request;
      const body = await buffer(request);
      const browser = service.#browsers.get(path);
      if (browser && service.status === 201) service.pushed.push({ path, headers, body: browser.read(body) });
      response.writeHead(browser ? service.status : 404).end();
      service.#told();
    }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    closeLater(server, (it) => {
      it.closeAllConnections();
      it.close();
    });
    service.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    return service;
  }

  browser(name: string): TestBrowser {
    const browser = new TestBrowser(`${this.url}/${name}`);
    this.#browsers.set(`/${name}`, browser);
    return browser;
  }

  async until(isDone: () => boolean): Promise<void> {
    while (!isDone())
      await new Promise<void>((resolve) => {
        this.#told = resolve;
      });
  }
}
