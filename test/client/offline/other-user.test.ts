import { expect } from 'chai';
import { type Client, createClient } from '../../../client/index.js';
import { type OfflinePersistence, type StorageLike, storage } from '../../../client/offline/index.js';
import { defineApp } from '../../../server/index.js';
import { eventsOf, testGateways, textOf } from '../../../testing/index.js';
import { closeLater } from '../../support/resources.js';
import { until } from '../../support/until.js';

const start = testGateways(afterEach);

const echo = defineApp({
  async *run(turn) {
    yield `heard ${turn.text}`;
  },
});

/** A device that several people use. */
function device() {
  const map = new Map<string, string>();
  const place: StorageLike = {
    getItem: (key) => map.get(key) ?? null,
    setItem: (key, value) => map.set(key, value),
    removeItem: (key) => map.delete(key),
    getAllKeys: () => [...map.keys()],
  };
  return { map, place, unsent: () => [...map].filter(([key]) => key.includes(':u:')) };
}

interface Page {
  readonly client: Client;
  readonly persist: OfflinePersistence;
  readonly errors: string[];
  token: string;
  isOffline: boolean;
}

/** A page that promises to be `user`, with the credentials of `page.token`. @param by The way in which they travel */
function open(
  url: string,
  place: StorageLike,
  user: string,
  token: string,
  { by = 'token', isOffline = false }: { by?: 'token' | 'cookie'; isOffline?: boolean } = {},
): Page {
  const errors: string[] = [];
  const page = { token, isOffline, errors };
  const persist = storage(place, { user, onError: (error) => errors.push((error as { code: string }).code) });
  const client = createClient({
    baseUrl: url,
    persist,
    ...(by === 'token' && { token: () => page.token }),
    fetch: async (input, init) => {
      if (page.isOffline) throw new TypeError('offline');
      const headers = new Headers(init?.headers);
      // As a browser does for all tabs.
      if (by === 'cookie') headers.set('cookie', `user=${page.token}`);
      return fetch(input, { ...init, headers });
    },
  });
  closeLater(client, (it) => it.disconnect());
  return Object.assign(page, { client, persist });
}

async function gatewayOf() {
  return start({
    app: echo,
    auth: {
      type: 'custom',
      validate: (token, { headers }) => {
        const id = token ?? /user=(\w+)/.exec(String(headers.cookie))?.[1];
        return id ? { valid: true, user: { id } } : { valid: false };
      },
    },
  });
}

describe('what one user left on a device', () => {
  for (const by of ['token', 'cookie'] as const) {
    it(`is neither sent nor shown where another one comes back to the page, by ${by}, and waits for its own user`, async () => {
      const kit = await gatewayOf();
      const { place, map, unsent } = device();
      const anns = open(kit.url, place, 'ann', 'ann', { by, isOffline: true });
      anns.client.send('main', 'anns words').accepted.catch(() => {});
      await anns.persist.drafts.set('main', 'anns draft');
      await until(() => unsent().length === 1);
      // The tab is gone.
      anns.client.disconnect();
      const [key, value] = unsent()[0]!;
      map.set(key, JSON.stringify({ ...JSON.parse(value), tab: 'gone' }));

      const bens = open(kit.url, place, 'ann', 'ben', { by });
      const watch = bens.client.session('main').watch();
      watch.subscribe(() => {});
      await until(() => bens.errors.includes('OTHER_USER') && watch.getSnapshot().status === 'ready');
      expect(watch.getSnapshot()).to.deep.include({ messages: [], sending: [] });
      expect(await bens.persist.drafts.get('main')).to.equal('');
      expect(textOf((await bens.client.send('main', 'his').result).message)).to.equal('heard his');
      expect(await textsOf(kit.client({ user: 'ben' }))).to.deep.equal(['his']);
      expect(unsent(), 'it waits, and his words are not kept as hers').to.have.length(1);
      bens.client.disconnect();

      map.set(key, JSON.stringify({ ...JSON.parse(value), tab: 'gone' }));
      const again = open(kit.url, place, 'ann', 'ann', { by });
      const hers = again.client.session('main').watch();
      hers.subscribe(() => {});
      await until(() => hers.getSnapshot().messages.length === 2);
      expect(await textsOf(kit.client({ user: 'ann' }))).to.deep.equal(['anns words']);
      expect(await again.persist.drafts.get('main')).to.equal('anns draft');
      await until(() => unsent().length === 0);
    });

    it(`is held where the page becomes another user's while it has no network, by ${by}`, async () => {
      const kit = await gatewayOf();
      const { place, unsent } = device();
      const page = open(kit.url, place, 'ann', 'ann', { by });
      const watch = page.client.session('main').watch();
      watch.subscribe(() => {});
      await until(() => watch.getSnapshot().status === 'ready');
      page.isOffline = true;
      page.client.send('main', 'anns words').accepted.catch(() => {});
      await until(() => unsent().length === 1 && watch.getSnapshot().sending[0]?.error !== undefined);
      // Another tab logs ann out and ben in.
      page.token = 'ben';
      page.isOffline = false;
      await until(() => page.errors.includes('OTHER_USER'));
      expect(await textsOf(kit.client({ user: 'ben' }))).to.deep.equal([]);
      expect(watch.getSnapshot().sending).to.deep.equal([]);
      expect(unsent()).to.have.length(1);
      page.token = 'ann';
      page.client.disconnect();
      watch.retry();
      await until(() => watch.getSnapshot().messages.length === 2);
      expect(await textsOf(kit.client({ user: 'ann' }))).to.deep.equal(['anns words']);
    });
  }
});

async function textsOf(client: Client): Promise<string[]> {
  const log = await eventsOf(client, 'main');
  return log.flatMap((event) => (event.type === 'message_accepted' ? [textOf(event.message)] : []));
}

describe('a device that never answers', () => {
  it('keeps nobody waiting for a draft or a log-out', async () => {
    const never = (): Promise<never> => new Promise(() => {});
    const errors: unknown[] = [];
    const persist = storage(
      { getItem: never, setItem: never, removeItem: never, getAllKeys: never },
      { user: 'ada', onError: (error) => errors.push(error) },
    );
    const [draft] = await Promise.all([persist.drafts.get('main'), persist.drafts.set('main', 'half')]);
    expect(draft).to.equal('');
    expect(errors.map((error) => (error as { code: string }).code)).to.deep.equal(['TIMEOUT', 'TIMEOUT']);
  });
});

describe('names of users that begin alike', () => {
  it('keep their own data where the other one is wiped', async () => {
    const { place, map } = device();
    const names = ['ada', 'ada:work', 'ada:', ':ada'];
    const all = names.map((user) => storage(place, { user }));
    for (const [at, { drafts }] of all.entries()) await drafts.set('main', names[at]!);
    await all[0]!.wipe();
    expect(await Promise.all(all.slice(1).map(({ drafts }) => drafts.get('main')))).to.deep.equal(
      names.slice(1),
    );
    for (const { wipe } of all.slice(1)) await wipe();
    expect([...map.keys()]).to.deep.equal([]);
    const one = storage(place, { name: 'a:b', user: 'c' });
    const other = storage(place, { name: 'a', user: 'b:c' });
    await one.drafts.set('main', 'of one');
    expect(await other.drafts.get('main')).to.equal('');
  });
});
