import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { type Client, createClient } from '../../../client/index.js';
import { type PersistOptions, type StorageLike, storage } from '../../../client/offline/index.js';
import { createInProcessTransport, type Gateway } from '../../../server/index.js';
import { scripted, testGateways, textOf } from '../../../testing/index.js';
import { describeDaily } from '../../support/daily.js';
import { closeLater } from '../../support/resources.js';
import { until } from '../../support/until.js';

const start = testGateways(afterEach);

/** As React Native's `AsyncStorage`. */
class Phone implements StorageLike {
  readonly kept = new Map<string, string>();
  room = Number.POSITIVE_INFINITY;
  async getItem(key: string): Promise<string | null> {
    return this.kept.get(key) ?? null;
  }
  async setItem(key: string, value: string): Promise<void> {
    if ([...this.kept.values()].join('').length + value.length > this.room) throw new Error('no room');
    this.kept.set(key, value);
  }
  async removeItem(key: string): Promise<void> {
    this.kept.delete(key);
  }
  async getAllKeys(): Promise<string[]> {
    return [...this.kept.keys()];
  }
  keys(part: string): string[] {
    return [...this.kept.keys()].filter((key) => key.includes(part));
  }
}

async function open(phone: Phone, gateway: Gateway<any, any, any>, options: Partial<PersistOptions> = {}) {
  const persist = storage(phone, { user: 'ada', ...options });
  const transport = createInProcessTransport(gateway, { user: { id: 'ada' } });
  const client = closeLater(createClient({ transport, persist }), (it) => it.disconnect());
  return { client, persist };
}

/** Shows a session and says something in it, until the phone keeps that. */
async function used(client: Client, phone: Phone): Promise<void> {
  client
    .session('main')
    .watch()
    .subscribe(() => {});
  await client.send('main', 'hello').result;
  await until(() => phone.keys(':s:').length === 1);
}

describeDaily('what a client keeps in a storage', 2, () => {
  it('is the sessions that were shown last, and their drafts', async () => {
    const phone = new Phone();
    const { gateway } = await start({ app: scripted(['heard']) });
    const { client, persist } = await open(phone, gateway, { sessions: 2 });
    for (const id of ['a', 'b', 'c']) {
      const stop = client
        .session(id)
        .watch()
        .subscribe(() => {});
      await client.send(id, 'hello').result;
      await until(() => phone.keys(`:s:${id}`).length === 1);
      stop();
    }
    await until(() => phone.keys(':s:').length === 2);
    expect(phone.keys(':s:').map((key) => key.at(-1))).to.have.members(['b', 'c']);
    await persist.drafts.set('a', 'half a');
    expect(await persist.drafts.get('a')).to.equal('half a');
    await persist.drafts.set('a', '');
    expect(await persist.drafts.get('a')).to.equal('');
    expect(phone.keys(':u:'), 'what was accepted is not unsent').to.deep.equal([]);
  });

  it('is unreadable where it is sealed, and dropped where the key is gone', async () => {
    const phone = new Phone();
    const { gateway } = await start({ app: scripted(['a secret answer']) });
    const sealing = (key: Buffer): Partial<PersistOptions> => ({
      encryption: {
        seal: async (text) => {
          const iv = randomBytes(12);
          const cipher = createCipheriv('aes-256-gcm', key, iv);
          const sealed = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
          return Buffer.concat([iv, cipher.getAuthTag(), sealed]).toString('base64');
        },
        open: async (text) => {
          const bytes = Buffer.from(text, 'base64');
          const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, 12));
          decipher.setAuthTag(bytes.subarray(12, 28));
          return Buffer.concat([decipher.update(bytes.subarray(28)), decipher.final()]).toString('utf8');
        },
      },
    });
    const key = randomBytes(32);
    const { client, persist } = await open(phone, gateway, sealing(key));
    await persist.drafts.set('main', 'a secret draft');
    await used(client, phone);
    expect([...phone.kept.values()].join()).to.not.match(/secret|cursor/);
    const again = await open(phone, gateway, sealing(key));
    expect(await again.persist.drafts.get('main')).to.equal('a secret draft');
    const other = await open(phone, gateway, sealing(randomBytes(32)));
    expect(await other.persist.drafts.get('main')).to.equal('');
    expect(phone.keys(':d:')).to.deep.equal([]);
  });

  it('makes room for what is shown now, says what it could not keep, and disturbs nothing', async () => {
    const phone = new Phone();
    const { gateway } = await start({ app: scripted(['heard']) });
    const errors: unknown[] = [];
    const { client } = await open(phone, gateway, { onError: (error) => errors.push(error) });
    const show = async (id: string) => {
      client
        .session(id)
        .watch()
        .subscribe(() => {});
      expect(textOf((await client.send(id, 'hello').result).message)).to.equal('heard');
    };
    for (const id of ['a', 'b']) {
      await show(id);
      await until(() => phone.keys(`:s:${id}`).length === 1);
    }
    // Room for what is unsent and a little more.
    phone.room = [...phone.kept.values()].join('').length + 400;
    await show('c');
    await until(() => phone.keys(':s:c').length === 1);
    expect(phone.keys(':s:a')).to.deep.equal([]);
    phone.room = 0;
    await show('d');
    await until(() => errors.length > 0);
  });

  it('is nobody else’s', async () => {
    const phone = new Phone();
    const { gateway } = await start({ app: scripted(['heard']) });
    const { client, persist } = await open(phone, gateway);
    await used(client, phone);
    const bob = storage(phone, { user: 'bob' });
    const other = createClient({
      transport: createInProcessTransport(gateway, { user: { id: 'bob' } }),
      persist: bob,
    });
    closeLater(other, (it) => it.disconnect());
    expect((await other.session('main').state()).messages).to.deep.equal([]);
    await bob.wipe();
    expect(phone.keys(':s:'), 'one wipe is one user’s').to.have.length(1);
    await persist.wipe();
    expect([...phone.kept.keys()]).to.deep.equal([]);
  });

  it('holds nothing up where the device does not answer', async () => {
    const { gateway } = await start({ app: scripted(['heard']) });
    const never = (): Promise<never> => new Promise(() => {});
    const silent: StorageLike = { getItem: never, setItem: never, removeItem: never, getAllKeys: never };
    const persist = storage(silent, { user: 'ada' });
    const client = createClient({
      transport: createInProcessTransport(gateway, { user: { id: 'ada' } }),
      persist,
    });
    closeLater(client, (it) => it.disconnect());
    expect(textOf((await client.send('main', 'hello').result).message)).to.equal('heard');
    expect((await client.session('main').state()).messages).to.have.length(2);
  });

  it('counts as old until it is proven, also where nobody looked meanwhile', async () => {
    const phone = new Phone();
    const kit = await start({ app: scripted(['heard']) });
    const first = await open(phone, kit.gateway);
    first.client
      .session('main')
      .watch()
      .subscribe(() => {});
    await first.client.send('main', 'hello').result;
    await until(() => phone.keys(':s:').length === 1);
    first.client.disconnect();

    const line = kit.client({ user: 'ada', persist: storage(phone, { user: 'ada' }) });
    line.goOffline();
    const watch = line.session('main').watch();
    const stop = watch.subscribe(() => {});
    await until(() => watch.getSnapshot().messages.length === 2);
    expect(watch.getSnapshot()).to.include({ stale: true, status: 'ready' });
    stop();
    await new Promise((resolve) => setTimeout(resolve, 1_100));
    watch.subscribe(() => {});
    expect(watch.getSnapshot().stale).to.equal(true);
    line.goOnline();
    await until(() => watch.getSnapshot().stale === undefined);
    expect(watch.getSnapshot().messages.map(textOf)).to.deep.equal(['hello', 'heard']);
  });
});
