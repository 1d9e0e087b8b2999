import { expect } from 'chai';
import { record, records, refOf, TestWriter } from '../../testing/stores/records.js';
import { eventually, left, opens, type SharedStoreUnderTest, sharedPlace } from './shared-place.js';

/** The part of the contract of shared stores whose tests wait until a lease has run out. */
export function describeLeases(
  name: string,
  makeStore: () => SharedStoreUnderTest | Promise<SharedStoreUnderTest>,
): void {
  describe(`shared store contract: ${name}`, () => {
    const { join } = sharedPlace(makeStore);

    describe('members', () => {
      it('pass for alive as long as they live, and for dead once their lease has run out', async () => {
        const [a, b] = [await join(), await join()];
        await new Promise((resolve) => setTimeout(resolve, a.shared.leaseMs * 2));
        expect(await a.membership.members()).to.include(b.holder);
        await b.kill();
        await eventually(async () => !(await a.membership.members()).includes(b.holder));
        expect(await a.membership.members()).to.deep.equal([a.holder]);
      });

      it('hear that they may have passed for dead, and are members again', async () => {
        const [a, b] = [await join(), await join()];
        await b.freeze();
        await eventually(async () => !(await a.membership.members()).includes(b.holder));
        expect(b.lapses).to.equal(0);
        await b.thaw();
        await eventually(() => b.lapses > 0);
        expect(b.lapses).to.equal(1);
        await eventually(async () => (await a.membership.members()).includes(b.holder));
        await eventually(async () => await a.membership.tell(b.holder, 'again'));
        await eventually(() => b.heard.length > 0);
      });
    });

    describe('what is unfinished', () => {
      it('is only what no living member holds, and who held it', async () => {
        const [a, b] = [await join(), await join()];
        const busy = await TestWriter.acquire(b.store, refOf('busy'), undefined, b.holder);
        await busy.append([record(1, 'message_accepted')], opens('run_1'));
        const doing = await TestWriter.acquire(b.store, refOf('doing'), undefined, b.holder);
        await doing.append(records(1, 1), {
          activity: { status: 'running', runId: 'r', start: 0, queued: 0 },
        });
        const idle = await TestWriter.acquire(b.store, refOf('idle'), undefined, b.holder);
        await idle.append(records(1, 1));
        const own = await TestWriter.acquire(a.store, refOf('own'), undefined, a.holder);
        await own.append([record(1, 'message_accepted')], opens('run_2'));
        expect(await left(a)).to.deep.equal([]);
        await b.kill();
        await eventually(async () => (await left(a)).length > 0);
        const from = b.holder;
        expect(await left(a)).to.have.deep.members([
          { ...refOf('busy'), from },
          { ...refOf('doing'), from },
        ]);
        const taken = { holder: a.holder, from };
        expect((await a.store.acquire(refOf('busy'), taken)).kind).to.equal('acquired');
        expect(await left(a)).to.deep.equal([{ ...refOf('doing'), from }]);
      });
    });
  });
}
