import { expect } from 'chai';
import { failure, takeUntil } from '../support/client.js';
import type { Door } from './doors/door.js';
import { openBehaviour } from './suite.js';

/** How conversations are found again, whatever way a client comes in. */
export function listBehaviour(door: Door): void {
  describe(`${door.name}: lists of sessions`, () => {
    it('changes what is kept with a session, in front of those who follow it', async () => {
      const { client } = await openBehaviour(door);
      const alice = client();
      await alice.send('main', 'hello').result;
      const events = client().events('main', { from: 'earliest', types: ['session_updated'] });
      const metadata = { project: 'p1' };
      const changed = takeUntil(events, ({ type }) => type === 'session_updated');
      expect(await alice.session('main').update({ title: 'Greetings', metadata })).to.deep.equal({
        ok: true,
      });
      expect((await changed)[0]).to.deep.include({ title: 'Greetings', metadata });
      // What a client follows already is shown as far as it has come.
      const state = () => client().session('main').state();
      expect(await state()).to.deep.include({ title: 'Greetings', metadata, messageCount: 2 });
      const session = alice.session('main');
      await session.update({ metadata: null, archived: true });
      const now = await state();
      expect(now).to.include({ title: 'Greetings', archived: true });
      expect(now).to.not.have.property('metadata');
      const error = await failure(alice.session('nowhere').update({ title: 'x' }));
      expect(error).to.include({ code: 'SESSION_NOT_FOUND', status: 404 });
      const long = await failure(session.update({ title: 'x'.repeat(257) }));
      expect(long).to.include({ code: 'INVALID_PARAMS', status: 400 });
    });

    it('finds sessions by title, status and archive, page by page', async () => {
      const { client } = await openBehaviour(door);
      const alice = client();
      for (const id of ['a', 'b', 'c', 'other:d']) await alice.send(id, `to ${id}`).result;
      await alice.session('a').update({ title: 'First 100%' });
      await alice.session('b').update({ title: 'second' });
      await alice.session('c').update({ title: 'First of all', archived: true });
      const names = async (options: Parameters<typeof alice.sessions>[0]): Promise<string[]> =>
        (await alice.sessions(options)).sessions.map(({ sessionId }) => sessionId);
      expect(await names({ query: 'FIRST' })).to.deep.equal(['a']);
      expect(await names({ query: '%' })).to.deep.equal(['a']);
      expect(await names({ archived: true })).to.deep.equal(['c']);
      expect(await names({ archived: false, status: 'idle' })).to.have.members(['a', 'b', 'other:d']);
      expect(await names({ status: 'running' })).to.deep.equal([]);
      const first = await alice.sessions({ limit: 2 });
      const rest = await alice.sessions({ limit: 2, before: first.cursor! });
      expect(rest.cursor).to.equal(null);
      const shown = [...first.sessions, ...rest.sessions];
      expect(shown.map(({ sessionId }) => sessionId)).to.have.members(['a', 'b', 'other:d']);
      const [second] = shown.filter(({ sessionId }) => sessionId === 'b');
      expect(second).to.include({
        app: 'main',
        status: 'idle',
        title: 'second',
        preview: 'echo: to b',
        messageCount: 2,
        pending: 0,
        archived: false,
      });
    });
  });
}
