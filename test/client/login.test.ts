import { getEventListeners } from 'node:events';
import { expect } from 'chai';
import jwt from 'jsonwebtoken';
import { WebSocket } from 'ws';
import { inboxStoreOf } from '../../client/hooks/inbox-store.js';
import { createSchedulesStore } from '../../client/hooks/schedules-store.js';
import { createSessionStore } from '../../client/hooks/session-store.js';
import { type Client, createClient, type WebSocketClass } from '../../client/index.js';
import { type AuthConfig, defineApp, type Gateway } from '../../server/index.js';
import { testGateways, textOf } from '../../testing/index.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';

const start = testGateways(afterEach);

const echo = defineApp({
  async *run(turn) {
    yield `heard ${turn.text}`;
  },
});

const SECRET = 'a secret of at least thirty-two bytes';
const byJwt: AuthConfig = { type: 'jwt', secret: SECRET };
/** The token `ada.2` is the user `ada`. */
const byName: AuthConfig = {
  type: 'custom',
  cookies: false,
  validate: (token) => (token ? { valid: true, user: { id: token.split('.')[0]! } } : { valid: false }),
};
let made = 0;
const signed = (sub: string, more: object = {}) => jwt.sign({ sub, ...more, jti: String(++made) }, SECRET);

interface Page {
  readonly client: Client;
  /** Who is logged in, by the token. */
  token: string | null;
}

type Kind = 'sse' | 'websocket';

/** A page whose token is what `page.token` is when it is asked for. */
function open(url: string, transport: Kind, token: string, isSlow = false): Page {
  const page = { token: token as string | null };
  const client = closeLater(
    createClient({
      baseUrl: url,
      transport,
      WebSocket: WebSocket as unknown as WebSocketClass,
      token: isSlow ? async () => page.token : () => page.token,
    }),
    (it) => it.disconnect(),
  );
  return Object.assign(page, { client }) as Page;
}

/** All that a view has shown since, as texts. */
function show(watch: ReturnType<ReturnType<Client['session']>['watch']>) {
  const seen: string[] = [];
  const look = () => {
    const { messages, sending } = watch.getSnapshot();
    seen.push([...messages.map(textOf), ...sending.map(({ message }) => textOf(message))].join('|'));
  };
  const stop = watch.subscribe(look);
  look();
  return { seen, stop, now: () => watch.getSnapshot().messages.map(textOf) };
}

const ADAS = ['hers', 'heard hers'];

/** A gateway where ada has said something. */
async function gatewayOf(auth: AuthConfig, tokenOf: (name: string) => string) {
  const kit = await start({ app: echo, auth });
  return { url: kit.url, gateway: kit.gateway as Gateway<any, any, any>, tokenOf };
}

async function adasPage(
  transport: Kind,
  auth: AuthConfig,
  tokenOf: (name: string) => string,
  isSlow = false,
) {
  const { url, gateway } = await gatewayOf(auth, tokenOf);
  const page = open(url, transport, tokenOf('ada'), isSlow);
  const watch = page.client.session('main').watch();
  const first = show(watch);
  await page.client.send('main', 'hers').result;
  await until(() => first.now().length === 2);
  return { page, watch, first, url, gateway };
}

const name = (who: string) => who;
const KINDS: readonly Kind[] = ['sse', 'websocket'];

for (const transport of KINDS)
  describe(`log out and log in in one page, over ${transport}`, () => {
    for (const [what, auth, tokenOf] of [
      ['opaque tokens', byName, name],
      ['JWTs', byJwt, signed],
    ] as const) {
      it(`shows the next user nothing of the last one, with ${what}`, async () => {
        const { page, first } = await adasPage(transport, auth, tokenOf);
        first.stop();
        page.token = tokenOf('ben');
        const next = show(page.client.session('main').watch());
        await page.client.send('main', 'his').result;
        await until(() => next.now().length === 2);
        expect(next.now()).to.deep.equal(['his', 'heard his']);
        expect(next.seen.join()).to.not.include('hers');
      });

      it(`shows the next user nothing where the watch is the same, with ${what}`, async () => {
        const { page, first, watch } = await adasPage(transport, auth, tokenOf);
        first.stop();
        page.token = tokenOf('ben');
        const next = show(watch);
        await until(() => watch.getSnapshot().status === 'ready');
        await page.client.send('main', 'his').result;
        await until(() => next.now().length === 2);
        expect(next.seen.join()).to.not.include('hers');
      });

      it(`drops nothing where the token of the same user rotates, with ${what}`, async () => {
        const { page, first, watch } = await adasPage(
          transport,
          auth,
          auth === byName ? (who) => `${who}.${++made}` : signed,
        );
        const { length } = first.seen;
        page.token = auth === byName ? 'ada.new' : signed('ada');
        await page.client.send('main', 'more').result;
        await until(() => first.now().length === 4);
        expect(first.seen.slice(length).filter((texts) => !texts.startsWith(ADAS.join('|')))).to.deep.equal(
          [],
        );
        expect(watch.getSnapshot().status).to.equal('ready');
      });

      it(`drops what is shown after disconnect() and with another token, with ${what}`, async () => {
        const { page, watch, first } = await adasPage(transport, auth, tokenOf);
        page.client.disconnect();
        page.token = tokenOf('ben');
        const { length } = first.seen;
        watch.retry();
        expect(first.now()).to.deep.equal([]);
        await until(() => watch.getSnapshot().status === 'ready');
        expect(first.seen.slice(length).join()).to.not.include('hers');
      });
    }

    it('drops what stays on the screen as soon as the gateway says who is there', async () => {
      const { page, first } = await adasPage(transport, byName, name);
      page.token = 'ben';
      const run = page.client.send('main', 'his');
      expect(textOf((await run.result).message)).to.equal('heard his');
      await until(() => first.now().length === 2);
      expect(first.now()).to.deep.equal(['his', 'heard his']);
    });

    it('shows nothing after a log-out that somebody looked during', async () => {
      const { page, first, watch } = await adasPage(transport, byName, name);
      page.token = null;
      page.client.session('other').watch();
      expect(watch.getSnapshot().messages).to.deep.equal([]);
      await until(() => first.now().length === 0 && watch.getSnapshot().status === 'error');
      page.token = 'ben';
      watch.retry();
      await until(() => watch.getSnapshot().status === 'ready');
      expect(first.now()).to.deep.equal([]);
    });

    it('knows tenants apart', async () => {
      const { page, first, watch } = await adasPage(transport, byJwt, (who) =>
        signed(who, { tenantId: 'one' }),
      );
      page.token = signed('ada', { tenantId: 'two' });
      await page.client.send('main', 'elsewhere').result;
      await until(() => first.now().length === 2);
      expect(first.now()).to.deep.equal(['elsewhere', 'heard elsewhere']);
      expect(watch.getSnapshot().status).to.equal('ready');
    });

    it('gives up what the last user could not send, and does not send it as the next', async () => {
      const { page, first, watch } = await adasPage(transport, byName, name);
      const failed = page.client.send('main', '');
      await failed.accepted.catch(() => {});
      expect(watch.getSnapshot().sending).to.have.length(1);
      page.token = 'ben';
      page.client.session('main').watch();
      await until(() => watch.getSnapshot().sending.length === 0 && first.now().length === 0);
    });
  });

describe('a client whose token takes its time', () => {
  it('drops what the last user saw once it has used the next one', async () => {
    const { page, first, watch } = await adasPage('sse', byName, name, true);
    page.token = 'ben';
    expect(textOf((await page.client.send('main', 'his').result).message)).to.equal('heard his');
    await until(() => first.now().length === 2);
    expect(first.now()).to.deep.equal(['his', 'heard his']);
    expect(watch.getSnapshot().status).to.equal('ready');
  });
});

describe('hooks of a page where somebody else logs in', () => {
  it('show nothing of the last person in an inbox, a list of schedules and a session', async () => {
    const { page, gateway } = await adasPage('sse', byName, name);
    await gateway.session('main', { user: { id: 'ada' } }).schedule({ message: 'wake', every: '0 0 1 1 *' });
    const inbox = inboxStoreOf(page.client);
    const schedules = createSchedulesStore(page.client, 'main');
    const session = createSessionStore(page.client, 'main');
    const seen: string[] = [];
    const look = () => {
      const { messages } = session.getSnapshot();
      seen.push(JSON.stringify([inbox.getSnapshot().sessions, schedules.getSnapshot().schedules, messages]));
    };
    for (const store of [inbox, schedules, session]) store.subscribe(look);
    await until(() => seen.some((text) => /sessionId/.test(text) && /wake/.test(text) && /hers/.test(text)));
    page.token = 'ben';
    const { length } = seen;
    createSessionStore(page.client, 'main');
    await until(() => {
      look();
      return (
        seen.at(-1) === '[[],[],[]]' && !schedules.getSnapshot().isLoading && !inbox.getSnapshot().isLoading
      );
    });
    const cleared = seen.findIndex((text, at) => at >= length && !/hers/.test(text));
    expect(seen.slice(cleared).filter((text) => /hers/.test(text))).to.deep.equal([]);
  });
});

describe('one signal for many sends', () => {
  it('is listened to once, and by nobody when they are over', async () => {
    const { url } = await gatewayOf(byName, name);
    const { client } = open(url, 'sse', 'ada');
    const { signal } = new AbortController();
    const runs = Array.from({ length: 20 }, (_, at) => client.send(`s${at}`, 'hello', { signal }));
    expect(getEventListeners(signal, 'abort')).to.have.length(1);
    await Promise.all(runs.map((run) => run.result));
    await until(() => getEventListeners(signal, 'abort').length === 0);
  });
});
