import { expect } from 'chai';
import type { Store } from '../../server/index.js';
import { askedWords, type SaidQuery, type SaidText } from '../../server/stores/index.js';
import {
  type MakeStore,
  newTestEpoch,
  opened,
  record,
  refOf,
  type StoreUnderTest,
  TestWriter,
} from './records.js';
import { beforeEach, describe, it } from './runner.js';

const said = (depth: number, text: string, at = depth): SaidText => ({
  ...{ depth, text, at },
  messageId: `m${depth}`,
  role: depth % 2 ? 'user' : 'assistant',
});

/** Tests search, which a store may lack: every answered append is found, and nothing that is dropped. */
export function describeSearch(makeStore: MakeStore): void {
  describe('search', () => {
    let made: StoreUnderTest;
    let store: Store;

    beforeEach(async () => {
      made = await opened(makeStore);
      ({ store } = made);
    });

    /** A test of stores that can search. */
    const may = (title: string, body: () => Promise<void>): unknown =>
      it(title, async () => {
        if (store.search) await body();
      });

    /** The texts that a query finds, page by page. */
    async function found(query: string, given: Partial<SaidQuery> = {}, from = store): Promise<string[]> {
      const texts: string[] = [];
      let before: number | null = null;
      do {
        const page = await from.search!({
          ...{ within: [{ scope: 'alice' }], limit: 100, chars: 1 << 20, words: askedWords(query) },
          ...(before !== null && { before }),
          ...given,
        });
        texts.push(...page.hits.map(({ text }) => text));
        before = page.next;
      } while (before !== null);
      return texts;
    }

    const begin = (name = 'main', scope = 'alice', app = 'assistant'): Promise<TestWriter> =>
      TestWriter.acquire(store, refOf(name, scope, app));

    may('finds what has all words, or begins so, the newest first, and tells its place', async () => {
      const writer = await begin();
      await writer.append([record(1)], { said: { put: [said(1, 'Shall we meet in Zürich?')] } });
      const put = [said(2, 'Meeting in ZURICH, noted'), said(3, 'unrelated')];
      const { last } = await writer.append([record(2), record(3)], { said: { put } });
      expect(await found('zurich meet')).to.deep.equal([
        'Meeting in ZURICH, noted',
        'Shall we meet in Zürich?',
      ]);
      expect(await found('zurich meeting')).to.deep.equal(['Meeting in ZURICH, noted']);
      expect(await found('eeting')).to.deep.equal([]);
      const { hits } = await store.search!({
        ...{ within: [{ scope: 'alice' }], limit: 1, chars: 1000, words: askedWords('noted') },
      });
      expect(hits).to.deep.equal([
        {
          place: hits[0]!.place,
          ...{ ref: refOf(), epoch: writer.log.epoch, seq: last, term: writer.term },
          ...{ messageId: 'm2', role: 'assistant', at: 2, text: 'Meeting in ZURICH, noted' },
        },
      ]);
    });

    may('finds parts of writing without spaces, and odd text', async () => {
      const writer = await begin();
      const odd = 'a\0b "quoted" \\ {"json":1} half \ud800 _l1 AND * NOT';
      const put = [
        said(1, '明日は東京で会議です'),
        said(2, odd),
        said(3, 'Привет, Мир'),
        said(4, 'สวัสดีชาวโลก'),
      ];
      await writer.append([record(1)], { said: { put } });
      for (const query of ['東京', '会', '東京で会議', 'す'])
        expect(await found(query), query).to.deep.equal(['明日は東京で会議です']);
      expect(await found('京東')).to.deep.equal([]);
      for (const query of ['quoted', 'b json', 'and not', 'half\' " * ) NOT (', 'l1'])
        expect(await found(query), query).to.deep.equal([odd]);
      expect(await found('мир привет')).to.deep.equal(['Привет, Мир']);
      expect(await found('ชาว')).to.deep.equal(['สวัสดีชาวโลก']);
    });

    may('finds only in the scopes, apps and conversations that are asked for', async () => {
      const places = [
        ['main', 'alice', 'a'] as const,
        ['main', 'alice', 'b'] as const,
        ['main', 'bob', 'a'] as const,
      ];
      const logs = [];
      for (const place of places) {
        const writer = await begin(...place);
        await writer.append([record(1)], { said: { put: [said(1, `secret ${place.join(' ')}`)] } });
        logs.push(writer.log);
      }
      const [first, , others] = logs;
      expect(await found('secret')).to.deep.equal(['secret main alice b', 'secret main alice a']);
      expect(await found('secret', { within: [{ scope: 'alice', app: 'a' }] })).to.deep.equal([
        'secret main alice a',
      ]);
      const both = [others!, { scope: 'alice', app: 'b' }];
      expect(await found('secret', { within: both })).to.deep.equal([
        'secret main bob a',
        'secret main alice b',
      ]);
      expect(await found('secret', { within: [{ ...first!, epoch: newTestEpoch() }] })).to.deep.equal([]);
      expect(await found('secret', { within: [] })).to.deep.equal([]);
      expect(await found('', { within: both })).to.deep.equal([]);
    });

    may('pages by number, size and time', async () => {
      const writer = await begin();
      const put = Array.from({ length: 90 }, (_, i) => said(i + 1, `word ${i + 1}`));
      for (let i = 0; i < 90; i += 9)
        await writer.append([record(1)], { said: { put: put.slice(i, i + 9) } });
      const all = put.map(({ text }) => text).reverse();
      expect(await found('word')).to.deep.equal(all);
      expect(await found('word', { limit: 7 })).to.deep.equal(all);
      expect(await found('word', { chars: 12 })).to.deep.equal(all);
      expect(await found('word', { from: 5, to: 8, limit: 10 })).to.deep.equal([
        'word 7',
        'word 6',
        'word 5',
      ]);
    });

    may('replaces and drops texts in the same append', async () => {
      const writer = await begin();
      const put = [
        said(1, 'first word'),
        said(2, 'second word'),
        said(3, 'third word'),
        said(4, 'fourth word'),
      ];
      await writer.append([record(1)], { said: { put } });
      await writer.append([], { said: { from: 3, put: [said(2, 'another word'), said(3, 'third again')] } });
      expect(await found('word')).to.deep.equal(['another word', 'first word']);
      expect(await found('again')).to.deep.equal(['third again']);
      await writer.append([], { said: { put: [said(1, '')] } });
      expect(await found('word')).to.deep.equal(['another word']);
    });

    may('forgets a conversation that is closed or erased, and finds the next one', async () => {
      const ended = await begin('ended');
      await ended.append([record(1)], { said: { put: [said(1, 'word of the ended')] } });
      const erased = await begin('erased');
      await erased.append([record(1)], { said: { put: [said(1, 'word of the erased')] } });
      expect(await found('word')).to.have.length(2);
      await ended.append([record(2, 'session_closed')], { close: true });
      expect(await found('word')).to.deep.equal(['word of the erased']);
      await erased.append([record(2, 'session_closed')], { close: true, erase: newTestEpoch() });
      expect(await found('word')).to.deep.equal([]);
      const next = await begin('ended');
      await next.append([record(1)], { said: { put: [said(1, 'word of the next')] } });
      expect(await found('word')).to.deep.equal(['word of the next']);
      expect(await found('word', { within: [ended.log] })).to.deep.equal([]);
    });

    may('keeps texts', async () => {
      if (!made.reopen) return;
      const writer = await begin();
      const put = Array.from({ length: 40 }, (_, i) => said(i + 1, `word ${i + 1}`));
      await writer.append([record(1)], { said: { put } });
      await writer.append([record(2)], { said: { put: [said(41, 'the last word')] } });
      store = await made.reopen!();
      expect(await found('word')).to.have.length(41);
      expect(await found('last')).to.deep.equal(['the last word']);
    });
  });
}
