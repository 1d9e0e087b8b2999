import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import type { Store } from '../../server/index.js';
import type { StoredRecord } from '../../server/stores/index.js';
import {
  checkpointAt,
  type MakeStore,
  message,
  newTestEpoch,
  opened,
  record,
  refOf,
  resultOf,
  type StoreUnderTest,
  TestWriter,
} from './records.js';
import { beforeEach, describe, it } from './runner.js';

/** Texts that some column, script or driver does not take as they are. */
const ODD: Readonly<Record<string, string>> = {
  'a NUL': 'a\0b',
  controls: '\u0001\n\t\u007f\u0085\u2028',
  'the first half of a pair': 'a\ud83d',
  'the second half of a pair': '\ude00b',
  'halves in the wrong order': '\ude00\ud83d',
  'an astral character': '😀',
  quotes: `"'\\\\"$1 :a ?1 %_`,
  'an escape that is written out': '\\u0000\\',
  'a name of JavaScript': '__proto__',
  '256 bytes': '€'.repeat(85),
};
const LONG = { ...ODD, '3,000 bytes': 'äb€'.repeat(500) };

/** Tests that text comes back as it was given, in every field that people, apps or hosts choose. */
export function describeText(makeStore: MakeStore): void {
  describe('text', () => {
    let made: StoreUnderTest;
    let store: Store;

    beforeEach(async () => {
      made = await opened(makeStore);
      ({ store } = made);
    });

    for (const [what, text] of Object.entries(LONG))
      it(`is kept as it is in titles, previews, steps, runs, messages and records: ${what}`, async () => {
        const ref = refOf();
        const json = JSON.stringify({ text });
        let writer = await TestWriter.acquire(store, ref);
        const about = { title: `T ${text}`, preview: text, metadata: { text }, messageCount: 1, pending: 0 };
        const step = { runId: 'run_1', number: 1, name: text, outcome: json };
        await writer.append([record(1, 'message_accepted')], {
          opens: { runId: 'run_1', key: 'k', hash: 'h', request: json },
          about,
          steps: [step],
          records: [{ kind: 'note', id: 'a', owner: 'ben', value: json }],
          messages: [{ ...message('m1'), content: [{ type: 'text', text }] }],
        });
        for (const isAgain of [false, true]) {
          if (isAgain) {
            if (!made.reopen) break;
            store = await made.reopen();
          }
          expect((await store.list('alice', { limit: 9 }, { query: text })).records[0]).to.deep.include(
            about,
          );
          expect((await store.record(ref))!).to.deep.include(about);
          expect(await store.run(ref, { key: 'k' })).to.include({ request: json });
          expect((await store.records({ home: ref, limit: 1 }))[0]).to.include({ value: json });
          const [row] = await store.messages(writer.log, { tip: 'm1', limit: 1 });
          expect(row?.content).to.deep.equal([{ type: 'text', text }]);
          writer = await TestWriter.acquire(store, ref, null);
          expect(writer.acquired.openRuns[0]?.steps).to.deep.equal([step]);
        }
        const result = { ...resultOf('run_1'), error: { code: 'INTERNAL', message: text } };
        await writer.append([record(2, 'message_end')], { ends: [{ runId: 'run_1', result }] });
        expect((await store.run(ref, { runId: 'run_1' }))?.result?.error?.message).to.equal(text);
      });

    for (const [what, text] of Object.entries(ODD))
      it(`is kept as it is in whatever else belongs to runs, steps, messages and forks: ${what}`, async () => {
        const ref = refOf();
        const create = {
          epoch: newTestEpoch(),
          forkedFrom: { sessionId: text, messageId: text },
        };
        let writer = await TestWriter.acquire(store, ref, create);
        const { log } = writer;
        const about = { metadata: { [text]: [text] }, messageCount: 2, pending: 0 };
        const body = JSON.stringify({ runId: 'run_1', payload: { [text]: text } });
        // Gateways make ids of runs, epochs and hashes, of letters and digits.
        const event = { ...record(1, 'message_accepted'), body };
        const opens = { runId: 'run_1', key: text, hash: 'h', request: JSON.stringify({ [text]: text }) };
        const steps = [
          { runId: 'run_1', number: 1, name: text, outcome: JSON.stringify(text) },
          { runId: 'run_1', number: 2, name: `${text} again` },
        ];
        const activity = { status: 'running', runId: 'run_1', start: 0, queued: 0 } as const;
        await writer.append([event], { opens, about, steps, activity });
        const rows = [
          { ...message('m1'), senderId: text, metadata: { [text]: text } },
          { ...message('m2', 'm1'), role: 'assistant', runId: text, app: text, branch: text, depth: 2 },
        ] as const;
        const checkpoint = checkpointAt(1, 'm2', 2);
        const state = { ...checkpoint.state, title: text, metadata: { [text]: text } };
        for (const isAgain of [false, true]) {
          if (isAgain) {
            if (!made.reopen) break;
            store = await made.reopen();
          }
          expect((await store.record(ref))!).to.deep.include({
            ...about,
            activity,
            forkedFrom: create.forkedFrom,
          });
          if (!isAgain)
            expect(
              (await store.read(log, 0, 9, 1 << 20)).map(({ runId, body: kept }) => ({ runId, kept })),
            ).to.deep.equal([{ runId: 'run_1', kept: body }]);
          expect(await store.run(ref, { runId: 'run_1' })).to.include(opens);
          writer = await TestWriter.acquire(store, ref, null);
          expect(writer.acquired.openRuns.map(({ runId, steps: left }) => [runId, left])).to.deep.equal([
            ['run_1', steps],
          ]);
        }
        await store.cut(log, { ...checkpoint, state }, rows, writer.term);
        expect(await store.messages(log, { tip: 'm2', limit: 9 })).to.deep.equal(rows);
        const result = { ...resultOf('run_1'), app: text, usage: { [text]: 1 } } as ReturnType<
          typeof resultOf
        >;
        await writer.append([record(2, 'message_end')], { ends: [{ runId: 'run_1', result }] });
        expect((await store.run(ref, { runId: 'run_1' }))?.result).to.deep.include({
          runId: 'run_1',
          usage: result.usage,
        });
        writer = await TestWriter.acquire(store, ref, null);
        expect(writer.acquired.openRuns).to.deep.equal([]);
      });

    it('of any kind divides the pages of records where it says', async () => {
      const ref = refOf();
      await TestWriter.acquire(store, ref);
      const ids = Object.values(ODD);
      const values = ids.map((id) => ({ kind: 'note', id, owner: 'ben', value: JSON.stringify(id) }));
      expect(await store.changeRecords(ref, values)).to.equal(true);
      const told: string[] = [];
      for (let last: { readonly kind: string; readonly id: string } | undefined; ; ) {
        const [one] = await store.records({
          home: ref,
          kind: 'note',
          limit: 1,
          ...(last && { after: last }),
        });
        if (!one) break;
        told.push(one.id);
        last = one;
        expect(told.length, 'a page that comes again').to.be.at.most(ids.length);
      }
      expect([...told].sort()).to.deep.equal([...ids].sort());
      const owned: string[] = [];
      for (let last: StoredRecord | undefined; ; ) {
        const [one] = await store.records({
          owner: 'ben',
          kind: 'note',
          limit: 1,
          ...(last && { after: last }),
        });
        if (!one) break;
        owned.push(one.id);
        last = one;
        expect(owned.length, 'a page that comes again').to.be.at.most(ids.length);
      }
      expect(owned.sort()).to.deep.equal([...ids].sort());
      for (const id of ids) await store.changeRecords(ref, [{ kind: 'note', id }]);
      expect(await store.records({ home: ref, limit: 9 })).to.deep.equal([]);
    });

    it('that is too long for an id is kept, or refused for good, and holds up nothing', async () => {
      const [writer, other] = [
        await TestWriter.acquire(store, refOf()),
        await TestWriter.acquire(store, refOf('other')),
      ];
      // Letters by chance, which no index can pack.
      const long = randomBytes(6000).toString('base64url');
      const outcomeOf = async (written: unknown): Promise<unknown> => {
        try {
          await written;
          return 'kept';
        } catch (error) {
          return (error as { code?: unknown }).code;
        }
      };
      const [outcome] = await Promise.all([
        outcomeOf(writer.append([record(1)], { records: [{ kind: 'note', id: long, value: '1' }] })),
        other.append([record(1)], { records: [{ kind: 'note', id: 'short', value: '1' }] }),
      ]);
      expect(outcome).to.be.oneOf(['kept', 'REFUSED']);
      expect(await store.records({ home: refOf('other'), limit: 9 })).to.have.length(1);
      const isKept = outcome === 'kept';
      expect(await store.records({ home: refOf(), limit: 9 })).to.have.length(isKept ? 1 : 0);
      if (!isKept) writer.batch -= 1;
      expect(await writer.append([record(2)])).to.include({ first: isKept ? 2 : 1 });
      expect(
        await outcomeOf(store.changeRecords(refOf(), [{ kind: 'note', id: long, value: '2' }])),
      ).to.equal(outcome);
    });

    for (const [what, text] of Object.entries(ODD))
      it(`is kept as it is in names, ids and owners: ${what}`, async () => {
        const ref = refOf(text, text, text);
        const key = text;
        let writer = await TestWriter.acquire(store, ref, { epoch: newTestEpoch(), userId: text });
        expect(writer.acquired.record).to.deep.include({ ref, userId: text });
        const owned = { kind: text, id: text, owner: text, dueAt: 1, value: '1' };
        await writer.append([record(1, 'message_accepted')], {
          opens: { runId: 'run_1', key, hash: 'h', request: '{}' },
          records: [owned],
          activity: { status: 'running', runId: 'run_1', start: 0, queued: 0 },
        });
        const tip = `m${text}`;
        const rows = [message(text), message(tip, text)];
        await store.cut(writer.log, checkpointAt(1, tip), rows, writer.term);
        const apart = refOf(`${text}.`, text, text);
        await TestWriter.acquire(store, apart);
        for (const isAgain of [false, true]) {
          if (isAgain) {
            if (!made.reopen) break;
            store = await made.reopen();
          }
          expect((await store.record(ref))!).to.deep.include({ ref, userId: text });
          const { records } = await store.list(text, { limit: 9 });
          expect(records.map((listed) => listed.ref)).to.deep.equal([apart, ref]);
          expect(await store.count(text)).to.equal(2);
          expect(await store.kept(text, { limit: 9 })).to.have.deep.members([ref, apart]);
          expect((await store.usage(ref)).session).to.be.above(0);
          expect(await store.run(ref, { key })).to.include({ key, runId: 'run_1' });
          expect((await store.messages(writer.log, { tip, limit: 9 })).map(({ id }) => id)).to.deep.equal([
            text,
            tip,
          ]);
          expect(await store.replies(writer.log, text)).to.deep.equal([tip]);
          expect(await store.records({ home: ref, kind: text, id: text, limit: 1 })).to.have.length(1);
          expect((await store.records({ home: ref, kind: text, limit: 9 }))[0]).to.include(owned);
          expect((await store.records({ owner: text, kind: text, limit: 9 }))[0]).to.deep.include({
            ...owned,
            home: ref,
          });
          expect(await store.changeRecords(ref, [{ ...owned, token: 0 }])).to.equal(false);
          if (!store.shared || isAgain)
            expect(
              (await store.unfinished()).map(({ scope, app, name }) => [scope, app, name]),
            ).to.deep.equal([[text, text, text]]);
        }
        expect((await store.takeDue({ limit: 1, leaseMs: 1000 })).records[0]).to.deep.include({
          ...owned,
          home: ref,
        });
        writer = await TestWriter.acquire(store, ref, null);
        await writer.append([record(2, 'session_closed')], { close: true });
        await store.remove(ref);
        expect(await store.kept(text, { limit: 9 })).to.deep.equal([apart]);
        expect(await store.records({ home: ref, limit: 9 })).to.deep.equal([]);
      });
  });
}
