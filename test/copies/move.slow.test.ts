import { join } from 'node:path';
import { expect } from 'chai';
import type { CopyLine } from '../../server/copies/lines.js';
import { copyLines } from '../../server/copies/read-store.js';
import { verifyStore } from '../../server/copies/verify-store.js';
import { writeCopy } from '../../server/copies/write-store.js';
import type { Store } from '../../server/index.js';
import { storeAt } from '../../server/runtime/store-at.js';
import { collect } from '../support/client.js';
import { openStore } from '../support/open-store.js';
import { SHARED_STORES } from '../support/shared-stores.js';
import { tempDir } from '../support/temp-dir.js';
import { answered, type Done, found, gatewayOn, use } from './moved.js';

const file = (): string => join(tempDir(), 'gateway.db');

async function used(place: string): Promise<Done> {
  const gateway = gatewayOn(await storeAt(place));
  await gateway.start();
  const done = await use(gateway);
  await gateway.close();
  return done;
}

async function* some(lines: readonly CopyLine[]): AsyncGenerator<CopyLine> {
  yield* lines;
}

const linesAt = async (place: string): Promise<CopyLine[]> => collect(copyLines(await openedAt(place)));
const openedAt = async (place: string): Promise<Store> => openStore(await storeAt(place));

/** A copy of a store is the same store for all that its clients can see. */
async function expectSame(place: string, done: Done): Promise<void> {
  const gateway = gatewayOn(await storeAt(place));
  await gateway.start();
  expect(await found(gateway, done)).to.deep.equal(done);
  expect(await answered(gateway)).to.equal('42: yes');
  await gateway.close();
}

for (const kind of SHARED_STORES)
  kind.describe(`a store that is moved from SQLite to ${kind.name} and back`, () => {
    it('has all sessions, with places, keys, records and open runs; clients resume', async () => {
      const [from, to, back] = [file(), await kind.start(), file()];
      const done = await used(from);
      const lines = await linesAt(from);
      const whole = (lines.at(-1) as { readonly whole: object }).whole;
      expect(whole).to.include({ sessions: 5, logs: 6 });
      const target = await openedAt(to);
      expect(await writeCopy(target, some(lines))).to.deep.equal(whole);
      expect(await verifyStore(target)).to.deep.equal({ ...whole, faults: [] });
      // Once more changes nothing.
      await writeCopy(target, some(lines));
      expect(await verifyStore(target)).to.deep.equal({ ...whole, faults: [] });
      const again = await openedAt(back);
      await writeCopy(again, copyLines(target));
      expect(await verifyStore(again)).to.deep.equal({ ...whole, faults: [] });
      await again.close();
      await expectSame(to, done);
      await expectSame(back, done);
    });
  });

describe('a copy of a store', () => {
  let lines: CopyLine[];

  before(async () => {
    const from = file();
    await used(from);
    lines = await linesAt(from);
  });

  it('goes on where it was broken off, at any line', async () => {
    const whole = (lines.at(-1) as { readonly whole: object }).whole;
    for (let at = 1; at < lines.length - 1; at += Math.ceil(lines.length / 12)) {
      const store = await openedAt(file());
      const broken = await writeCopy(store, some(lines.slice(0, at))).catch((error) => error.message);
      expect(broken).to.contain('it was broken off');
      expect(await writeCopy(store, some(lines)), String(at)).to.deep.equal(whole);
      expect(await verifyStore(store), String(at)).to.deep.equal({ ...whole, faults: [] });
    }
  });

  it('is refused if it was changed, is of something else, or is of another format', async () => {
    const refusal = async (given: readonly unknown[]): Promise<string> => {
      const store = await openedAt(file());
      return writeCopy(store, some(given as CopyLine[])).then(
        () => 'taken',
        ({ code, message }) => `${code} ${message}`,
      );
    };
    const changed = JSON.parse(JSON.stringify(lines).replace('29 of ada', '29 of eve'));
    expect(await refusal(changed)).to.match(/INVALID_REQUEST The copy is damaged: its checksum/);
    expect(await refusal(lines.slice(1))).to.match(/INVALID_REQUEST This is no copy of a store/);
    expect(await refusal([{ format: 9 }, ...lines.slice(1)])).to.match(/is of format 9/);
    const [first, log, ...rest] = lines;
    expect(await refusal([first, ...rest, log])).to.match(/INVALID_REQUEST The copy is damaged/);
  });

  it('is refused where a session has gone on otherwise', async () => {
    const place = file();
    await used(place);
    const error = await writeCopy(await openedAt(place), some(lines)).catch((it) => it);
    expect(error.code).to.equal('INVALID_REQUEST');
    expect(error.message).to.match(/The store has another conversation in the session/);
  });
});
