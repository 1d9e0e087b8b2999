import { expect } from 'chai';
import type { Store } from '../../server/index.js';
import type { About, AppendOptions, ListFilter, ListPlace } from '../../server/stores/index.js';
import { formatListPlace, parseListPlace } from '../../shared/list-place.js';
import {
  type MakeStore,
  newTestEpoch,
  opened,
  record,
  records,
  refOf,
  refusal,
  type StoreUnderTest,
  TestWriter,
} from './records.js';
import { beforeEach, describe, it } from './runner.js';

/** A time after the start of every session of a test. */
const LATER = Date.now() + 1_000_000_000;

const NEW: About = { messageCount: 0, pending: 0 };

/** A place after its way to a client and back. */
const carried = (place: ListPlace | null): ListPlace | undefined =>
  parseListPlace(formatListPlace(place) ?? undefined, 'before');

/** Tests lists of sessions, and the data that they show. */
export function describeLists(makeStore: MakeStore): void {
  describe('lists', () => {
    let store: Store;
    let made: StoreUnderTest;
    const writers = new Map<string, TestWriter>();

    beforeEach(async () => {
      made = await opened(makeStore);
      ({ store } = made);
      writers.clear();
    });

    /** Begins a session, or continues it. */
    const put = async (name: string, about?: Partial<NonNullable<AppendOptions['about']>>): Promise<void> => {
      const writer = writers.get(name) ?? (await TestWriter.acquire(store, refOf(name)));
      writers.set(name, writer);
      if (about) await writer.append(records(1, 1), { about: { ...NEW, ...about } });
    };
    const use = (name: string, at: number): Promise<void> => put(name, { usedAt: LATER + at });
    const close = async (name: string): Promise<void> => {
      await writers.get(name)!.append([record(1, 'session_closed')], { close: true });
      writers.delete(name);
    };
    const names = async (filter?: ListFilter, limit = 99): Promise<string[]> =>
      (await store.list('alice', { limit }, filter)).records.map(({ ref }) => ref.name);
    /** Reads page after page. @param between Called after each page */
    const paged = async (
      limit: number,
      between = async () => {},
      filter?: ListFilter,
    ): Promise<string[][]> => {
      const pages: string[][] = [];
      let before: ListPlace | undefined;
      do {
        const page = await store.list('alice', { limit, before }, filter);
        pages.push(page.records.map(({ ref }) => ref.name));
        before = carried(page.next);
        await between();
      } while (before);
      return pages;
    };

    it('have the open sessions of one scope, the one that was used last first, page by page', async () => {
      for (const name of ['a', 'b', 'c', 'd', 'e']) await put(name);
      await TestWriter.acquire(store, refOf('z', 'bob'));
      for (const [i, name] of ['d', 'c', 'a', 'e', 'b'].entries()) await use(name, i);
      await close('c');
      expect(await store.count('alice')).to.equal(4);
      expect(await store.count('bob')).to.equal(1);
      expect(await store.count('nobody')).to.equal(0);
      expect(await paged(3)).to.deep.equal([['b', 'e', 'a'], ['d']]);
      expect(await paged(1)).to.deep.equal([['b'], ['e'], ['a'], ['d']]);
      expect(await paged(4), 'a full last page').to.deep.equal([['b', 'e', 'a', 'd']]);
      expect((await store.list('nobody', { limit: 4 })).next).to.equal(null);
    });

    it('have the open sessions of all scopes, page by page, where none is named', async () => {
      const one = await TestWriter.acquire(store, refOf('a', 'of one'));
      const other = await TestWriter.acquire(store, refOf('a', 'of "another"'));
      await put('b');
      for (const [i, writer] of [one, other].entries())
        await writer.append(records(1, 1), { about: { ...NEW, usedAt: LATER * 2 + i, title: 'Of all' } });
      const listed = async (limit: number, before?: ListPlace, filter?: ListFilter) => {
        const { records: found, next } = await store.list(null, { limit, before }, filter);
        return { refs: found.map(({ ref: { scope, name } }) => `${name} ${scope}`), next: carried(next) };
      };
      const first = await listed(1);
      expect(first.refs).to.deep.equal(['a of "another"']);
      const second = await listed(1, first.next);
      expect(second.refs).to.deep.equal(['a of one']);
      const third = await listed(50, second.next);
      expect(third.refs).to.include('b alice').and.not.include('a of one');
      await other.append([record(1, 'session_closed')], { close: true });
      expect((await listed(9, undefined, { query: 'of ALL' })).refs).to.deep.equal(['a of one']);
    });

    it('have those that were used at the same time in the order in which they began', async () => {
      const all = ['a', 'b', 'c', 'd', 'e', 'f', 'g'];
      for (const name of all) await put(name);
      for (const name of ['c', 'a', 'g', 'b', 'e', 'd', 'f']) await use(name, 1);
      expect((await paged(2)).flat()).to.deep.equal(all.reverse());
    });

    it('begin with a session that began, and that began anew', async () => {
      for (const name of ['a', 'b']) await put(name);
      await close('a');
      expect(await names()).to.deep.equal(['b']);
      await put('a');
      expect(await names()).to.deep.equal(['a', 'b']);
      expect(await store.count('alice')).to.equal(2);
    });

    it('are not moved by what is no use, nor backwards', async () => {
      for (const [i, name] of ['a', 'b', 'c'].entries()) await use(name, i);
      await put('a', { title: 'renamed' });
      await writers.get('b')!.append(records(2, 9));
      await use('c', -5000);
      expect(await names()).to.deep.equal(['c', 'b', 'a']);
      expect(await store.record(refOf('c'))).to.include({ updatedAt: LATER + 2 });
      expect(await store.record(refOf('a'))).to.include({ updatedAt: LATER, title: 'renamed' });
    });

    it('lose and repeat nothing between pages that was not used meanwhile', async () => {
      const all = Array.from({ length: 12 }, (_, i) => `s${i}`);
      for (const [i, name] of all.entries()) await use(name, i);
      const moved = ['s1', 's10', 's4', 's11', 's0', 's7'];
      const later = [...moved];
      let at = 100;
      const pages = await paged(3, async () => {
        const name = later.shift();
        if (name) await use(name, at++);
        await put(`new${at}`);
      });
      const seen = pages.flat();
      const unmoved = all.filter((name) => !moved.includes(name));
      expect(seen.filter((name) => unmoved.includes(name))).to.deep.equal([...unmoved].reverse());
      expect(new Set(seen).size, 'each once').to.equal(seen.length);
      // A reader that begins again finds the moved sessions at the front.
      const front = moved.slice(0, moved.length - later.length).reverse();
      expect((await names()).slice(0, front.length)).to.deep.equal(front);
    });

    it('say what their writers last said of sessions, also of closed ones', async () => {
      const about: About = {
        title: 'A "title" \\ 😀',
        metadata: { project: 'p1', tags: ['x'], n: null },
        archived: true,
        preview: 'Hello',
        messageCount: 3,
        pending: 2,
        failed: true,
        arrivals: { count: 3, last: 7, rewound: 5, changedAt: LATER },
      };
      const writer = await TestWriter.acquire(store, refOf());
      expect(writer.acquired.record).to.include({ ...NEW });
      for (const key of ['title', 'metadata', 'archived', 'preview', 'forkedFrom'])
        expect(writer.acquired.record).to.not.have.property(key);
      await writer.append(records(1, 1), { about: { ...about, usedAt: LATER } });
      expect(await store.record(refOf())).to.deep.include({ ...about, updatedAt: LATER });
      const [listed] = (await store.list('alice', { limit: 1 }, { archived: true })).records;
      expect(listed).to.deep.equal(await store.record(refOf()));
      await writer.append(records(2, 5));
      expect(await store.record(refOf()), 'what says nothing changes nothing').to.deep.include(about);
      await writer.append([record(6, 'session_closed')], { close: true, about: { ...about, pending: 0 } });
      expect(await store.record(refOf())).to.deep.include({ ...about, pending: 0, closed: true });
      const again = await TestWriter.acquire(store, refOf());
      expect(again.acquired.record, 'anew').to.deep.include(NEW);
      expect(again.acquired.record).to.not.have.any.keys(
        'title',
        'metadata',
        'archived',
        'preview',
        'failed',
        'arrivals',
      );
    });

    it('take away what a later batch does not say any more', async () => {
      await put('a', {
        title: 't',
        metadata: { x: 1 },
        archived: true,
        preview: 'p',
        failed: true,
        messageCount: 1,
      });
      await put('a', { messageCount: 2 });
      const kept = (await store.record(refOf('a')))!;
      expect(kept).to.include({ messageCount: 2, pending: 0 });
      expect(kept).to.not.have.any.keys('title', 'metadata', 'archived', 'preview', 'failed', 'arrivals');
      expect(await names({ query: 't' })).to.deep.equal([]);
    });

    it('know nothing of a batch that was refused or came twice', async () => {
      await put('a', { title: 'first', usedAt: LATER });
      const writer = writers.get('a')!;
      const { term, batch } = writer;
      const about = { ...NEW, title: 'second', usedAt: LATER + 9 };
      await store.append(writer.log, records(1, 1), { term, batch, about });
      const skipped = { term, batch: batch + 2, about };
      expect(await refusal(() => store.append(writer.log, records(1, 1), skipped))).to.equal('ROLLED_BACK');
      const old = { term: term - 1, batch: 1, about };
      expect(await refusal(() => store.append(writer.log, records(1, 1), old))).to.equal('FENCED');
      expect(await store.record(refOf('a'))).to.include({ title: 'first', updatedAt: LATER });
    });

    it('have where sessions come from', async () => {
      const forkedFrom = { sessionId: 'main', messageId: 'm7' };
      const writer = await TestWriter.acquire(store, refOf('fork'), { epoch: newTestEpoch(), forkedFrom });
      expect(writer.acquired.record).to.deep.include({ ...NEW, forkedFrom });
      await writer.append(records(1, 1), { about: { ...NEW, messageCount: 1 } });
      expect(await store.record(refOf('fork'))).to.deep.include({ forkedFrom, messageCount: 1 });
      const whole = { epoch: newTestEpoch(), forkedFrom: { sessionId: 'x', messageId: null } };
      const { acquired } = await TestWriter.acquire(store, refOf('empty'), whole);
      expect(acquired.record.forkedFrom).to.deep.equal({ sessionId: 'x', messageId: null });
    });

    it('are of archived sessions or of the others', async () => {
      for (const [i, name] of ['a', 'b', 'c', 'd', 'e'].entries())
        await put(name, { archived: i % 2 === 0, usedAt: LATER + i });
      expect(await names()).to.deep.equal(['d', 'b']);
      expect(await names({ archived: false })).to.deep.equal(['d', 'b']);
      expect(await paged(2, undefined, { archived: true })).to.deep.equal([['e', 'c'], ['a']]);
      await put('c', {});
      expect(await names()).to.deep.equal(['d', 'c', 'b']);
      expect(await store.count('alice'), 'archived ones count').to.equal(5);
    });

    it('are of sessions that do something, by what they do', async () => {
      for (const name of ['new', 'idle', 'running', 'waiting']) await put(name);
      const does = async (name: string, activity: AppendOptions['activity']): Promise<void> => {
        await writers.get(name)!.append(records(1, 1), { ...(activity && { activity }) });
      };
      await does('idle', { status: 'idle', queued: 0 });
      await does('running', { status: 'running', runId: 'r', start: 1, queued: 0 });
      await does('waiting', { status: 'waiting', runId: 'r', start: 1, queued: 2 });
      expect((await names({ status: 'idle' })).sort()).to.deep.equal(['idle', 'new']);
      expect(await names({ status: 'running' })).to.deep.equal(['running']);
      expect(await names({ status: 'waiting' })).to.deep.equal(['waiting']);
    });

    it('are of sessions whose last answer failed', async () => {
      const text = '{"failed":true';
      await put('failed', { failed: true, preview: text });
      await put('mended', { failed: true });
      await put('mended', { preview: text, metadata: { failed: true } });
      await put('archived', { failed: true, archived: true });
      await put('good');
      expect(await names({ failed: true })).to.deep.equal(['failed']);
      expect(await names({ failed: true, archived: true })).to.deep.equal(['archived']);
      expect((await names({ failed: false })).sort()).to.deep.equal(['failed', 'good', 'mended']);
    });

    it('are searched by a part of the title, whatever its letters are', async () => {
      const titles = {
        percent: '100% sure',
        underscore: 'snake_case',
        plain: '100 sure snakeXcase',
        umlaut: 'ÜBUNG macht den Meister',
        decomposed: 'U\u0308bung',
        quote: `it's "quoted" \\ back`,
        none: undefined,
      };
      for (const [name, title] of Object.entries(titles))
        await put(name, title === undefined ? {} : { title });
      const found = async (query: string): Promise<string[]> => (await names({ query })).sort();
      expect(await found('%')).to.deep.equal(['percent']);
      expect(await found('_')).to.deep.equal(['underscore']);
      expect(await found('SURE')).to.deep.equal(['percent', 'plain']);
      expect(await found('übung')).to.deep.equal(['decomposed', 'umlaut']);
      expect(await found(`'S "QUOTED" \\`)).to.deep.equal(['quote']);
      expect(await found('nothing')).to.deep.equal([]);
      expect(await found('')).to.have.length(7);
      expect(await names({ query: 'sure', archived: true })).to.deep.equal([]);
      expect((await paged(1, undefined, { query: 'sure' })).flat().sort()).to.deep.equal([
        'percent',
        'plain',
      ]);
    });

    it('are the same when the store was opened again', async () => {
      if (!made.reopen) return;
      for (const [i, name] of ['a', 'b', 'c'].entries())
        await put(name, { usedAt: LATER - i, title: `Title ${name}`, metadata: { i }, messageCount: i });
      const before = await store.list('alice', { limit: 2 });
      store = await made.reopen();
      expect(await store.list('alice', { limit: 2 })).to.deep.equal(before);
      expect(await names({ query: 'title B' })).to.deep.equal(['b']);
      expect((await store.list('alice', { limit: 2, before: carried(before.next) })).records).to.have.length(
        1,
      );
    });
  });
}
