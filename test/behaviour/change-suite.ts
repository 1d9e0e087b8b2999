import { expect } from 'chai';
import { appendMessages } from '../../client/history/index.js';
import type { Client } from '../../client/index.js';
import { type Message, textOf } from '../../shared/messages.js';
import { failure, takeUntil } from '../support/client.js';
import type { Door } from './doors/door.js';
import { placesOf, upTo } from './iteration.js';
import { openBehaviour } from './suite.js';

const shown = async (client: Client, id = 'main') =>
  (await client.session(id).history()).messages.map((message) => textOf(message));

/** Two questions with their answers. */
async function talk(client: Client): Promise<{ readonly answers: readonly Message[] }> {
  const first = await client.send('main', { id: 'one', content: 'one' }).result;
  const second = await client.send('main', { id: 'two', content: 'two' }).result;
  return { answers: [first.message, second.message] };
}

/** How conversations are changed, whatever way a client comes in. */
export function changeBehaviour(door: Door): void {
  describe(`${door.name}: changes of a conversation`, () => {
    it('edits a message, and brings the answer to it', async () => {
      const { client } = await openBehaviour(door);
      const alice = client();
      const { answers } = await talk(alice);
      const follower = client().events('main', { from: 'earliest' });
      const run = alice.session('main').edit('two', { id: 'other', content: 'other' });
      expect(textOf((await run.result).message)).to.equal('echo: other');
      expect(await shown(alice)).to.deep.equal(['one', 'echo: one', 'other', 'echo: other']);
      const { runId } = await run.accepted;
      const ended = (event: { readonly type: string; readonly runId?: string }) =>
        event.type === 'message_end' && event.runId === runId;
      const events = await takeUntil(follower, ended);
      expect(placesOf(events)).to.deep.equal(upTo(16));
      expect(events.find(({ type }) => type === 'history_moved')).to.deep.include({
        tip: answers[0]!.id,
        replies: ['two'],
      });
      const state = await client().session('main').state();
      expect(state.messages[2]!.versions).to.deep.equal(['two', 'other']);
      const error = await failure(alice.session('main').edit('two', 'too late').accepted);
      expect(error).to.include({ code: 'HISTORY_MOVED', status: 409 });
      expect(error.details).to.include({ messageId: 'two', tip: state.tip });
    });

    it('answers a message again, once for a key', async () => {
      const { client } = await openBehaviour(door);
      const alice = client();
      const { answers } = await talk(alice);
      const options = { idempotencyKey: 'again' };
      const { runId, message } = await alice.session('main').regenerate(answers[1]!.id, options).result;
      expect((await alice.session('main').regenerate(answers[1]!.id, options).result).runId).to.equal(runId);
      expect(await shown(alice)).to.deep.equal(['one', 'echo: one', 'two', 'echo: two']);
      const { messages } = await alice.session('main').state();
      expect(messages.at(-1)).to.deep.include({ id: message.id, versions: [answers[1]!.id, message.id] });
    });

    it('adds messages that nothing answers, once, and goes on behind them', async () => {
      const { client, stage } = await openBehaviour(door);
      const alice = client();
      const follower = client().events('main', { from: 'earliest' });
      const added = [{ id: 'note', content: 'a note' }, 'another'];
      const { messages, tip } = await appendMessages(alice, 'main', added);
      expect([messages.map(textOf), messages[0]!.id, tip]).to.deep.equal([
        ...[['a note', 'another'], 'note'],
        messages[1]!.id,
      ]);
      await appendMessages(client(), 'main', [added[0]!]);
      expect(await shown(alice)).to.deep.equal(['a note', 'another']);
      const { value } = await follower.next();
      expect(value).to.deep.include({ type: 'history_moved', tip, messageCount: 2 });
      const run = alice.send('main', 'hold');
      await stage.began.passed;
      const busy = await failure(appendMessages(alice, 'main', ['too soon']));
      expect(busy).to.include({ code: 'SESSION_BUSY', status: 409 });
      expect(busy.details).to.deep.equal({ runId: (await run.accepted).runId });
      stage.held.open();
      await run.result;
      expect(await shown(alice)).to.deep.equal(['a note', 'another', 'hold', 'working done']);
    });

    it('goes back to what was left, and forward again', async () => {
      const { client } = await openBehaviour(door);
      const alice = client();
      const { answers } = await talk(alice);
      const { tip } = await alice.session('main').move('one');
      expect(tip).to.equal('one');
      expect(await shown(alice)).to.deep.equal(['one']);
      const state = await alice.session('main').state();
      expect(state).to.deep.include({ tip: 'one', replies: [answers[0]!.id], messageCount: 1 });
      await alice.session('main').move(answers[1]!.id);
      expect(await shown(alice)).to.deep.equal(['one', 'echo: one', 'two', 'echo: two']);
      await alice.session('main').edit('two', 'other').result;
      expect(await alice.session('main').move({ version: 'two' })).to.have.property('tip', answers[1]!.id);
      const error = await failure(alice.session('main').move('nowhere'));
      expect(error).to.include({ code: 'MESSAGE_NOT_FOUND', status: 404 });
      expect(error.details).to.deep.equal({ messageId: 'nowhere', tip: answers[1]!.id });
    });

    it('begins another session with a part of one, and leaves that as it is', async () => {
      const { client } = await openBehaviour(door);
      const alice = client();
      const { answers } = await talk(alice);
      const at = answers[0]!.id;
      const forked = await alice.session('main').fork('copy', { at });
      expect(forked).to.include({ sessionId: 'copy', tip: at });
      expect(await alice.session('main').fork('copy', { at })).to.deep.equal(forked);
      await alice.send('copy', 'three').result;
      expect(await shown(alice, 'copy')).to.deep.equal(['one', 'echo: one', 'three', 'echo: three']);
      expect(await shown(alice)).to.deep.equal(['one', 'echo: one', 'two', 'echo: two']);
      const [first] = await takeUntil(client().events('copy', { from: 'earliest' }), () => true);
      expect(first).to.deep.include({ type: 'history_moved', tip: at });
      const error = await failure(alice.session('main').fork('copy', { at: 'two' }));
      expect(error).to.include({ code: 'SESSION_EXISTS', status: 409 });
      const strange = await failure(client('mallory').session('main').fork('mine'));
      expect(strange).to.include({ code: 'SESSION_NOT_FOUND' });
    });
  });
}
