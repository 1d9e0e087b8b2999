import { expect } from 'chai';
import { type StorageLike, storage } from '../../../client/offline/index.js';
import { until } from '../../support/until.js';
import { scriptedClient } from '../scripted.js';

/** A device, which keeps what another one has kept. */
function device(kept: Iterable<readonly [string, string]> = []) {
  const map = new Map(kept);
  const place: StorageLike = {
    getItem: (key) => map.get(key),
    setItem: (key, value) => map.set(key, value),
    removeItem: (key) => map.delete(key),
    getAllKeys: () => [...map.keys()],
  };
  const { transport, client } = scriptedClient({
    persist: storage(place, { user: 'ada', unsentMs: 3_600_000 }),
  });
  transport.answers.send = new Promise(() => {});
  const watch = client.session('main').watch();
  watch.subscribe(() => {});
  return { map, transport, client, sending: () => watch.getSnapshot().sending };
}

/** What is left on a device by a page that said something so long ago, could not send it, and is not there any more. */
async function left(agoMs: number): Promise<readonly [key: string, value: string]> {
  const { map, client } = device();
  client.send('main', 'one').accepted.catch(() => {});
  const unsent = () => [...map].find(([key]) => key.includes(':u:'));
  await until(() => unsent() !== undefined);
  const [key, value] = unsent()!;
  return [key, JSON.stringify({ ...JSON.parse(value), tab: 'gone', at: Date.now() - agoMs })];
}

describe('what a page could not send', () => {
  for (const [minutes, title, status] of [
    [59, 'is sent by the next one under its key', 'sending'],
    [61, 'is shown as failed, and not sent by itself, once gateways may have forgotten its key', 'failed'],
  ] as const)
    it(title, async () => {
      const kept = await left(minutes * 60_000);
      const { transport, sending } = device([kept]);
      const sends = () => transport.requests.filter(({ operation }) => operation === 'send');
      await until(() => sending().length > 0);
      expect(sending().map((entry) => entry.status)).to.deep.equal([status]);
      if (status === 'failed') {
        expect(sends()).to.deep.equal([]);
        sending()[0]!.retry();
      }
      await until(() => sends().length > 0);
      expect(sends().map(({ params }) => params.idempotencyKey)).to.deep.equal([kept[0].split(':').at(-1)]);
    });
});
