import { expect } from 'chai';
import { sessionReactions } from '../../client/people/index.js';
import { sqliteStore } from '../../server/stores/sqlite/index.js';
import type { EventOf } from '../../shared/events.js';
import type { Message } from '../../shared/messages.js';
import { testGateway } from '../../testing/index.js';
import { pageOf, startShared } from '../people/support.js';
import { echo } from '../support/apps.js';
import { collect, failure } from '../support/client.js';
import { newDatabase } from '../support/durable.js';
import { post } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { as } from '../support/users.js';

const opinions = ({ reactions = [] }: Message) => reactions.map(({ at: _, ...reaction }) => reaction);

describe('reactions', () => {
  it('are one a person and message, in the log, the state and the history, until taken back', async () => {
    const { gateway, ann, ben, upTo } = await startShared(echo);
    const { message } = await ann.session.send('hi').result;
    const [of, others] = [ann, ben].map(({ client }) => sessionReactions(client, 'main'));
    await of!.react(message.id, { value: 'up' });
    await others!.react(message.id, { value: 'down', comment: 'Out of date' });
    await of!.react(message.id, { value: '🎉' });
    await of!.react(message.id, { value: '🎉' });
    const expected = [
      { by: 'ben', value: 'down', comment: 'Out of date' },
      { by: 'ann', value: '🎉' },
    ];
    for (const { messages } of [await ben.session.state(), await ben.session.history()])
      expect(messages.map(opinions)).to.deep.equal([[], expected]);
    const exported = await collect(gateway.session('main', { user: { id: 'ann' } }).export());
    expect(exported.map(opinions)).to.deep.equal([[], expected]);
    await others!.react(message.id, { value: null });
    await others!.react(message.id, { value: null });
    await ann.session.update({ title: 'marks a place' });
    const seen = await upTo(({ type }) => type === 'session_updated');
    const logged = seen.filter((event): event is EventOf<'reaction'> => event.type === 'reaction');
    expect(logged.map(({ by, value }) => [by, value])).to.deep.equal([
      ['ann', 'up'],
      ['ben', 'down'],
      ['ann', '🎉'],
      ['ben', null],
    ]);
    expect((await ben.session.state()).messages.map(opinions)).to.deep.equal([
      [],
      [{ by: 'ann', value: '🎉' }],
    ]);
  });

  it('cost the log what each of them says, however many a message has', async () => {
    const people = Array.from({ length: 40 }, (_, i) => `p${i}`);
    const { url, ann, upTo } = await startShared(echo, {
      limits: { retention: { events: 10_000, bytes: 200_000, ageMs: 1e12 } },
    });
    await ann.session.send({ id: 'm', content: 'the first' }).result;
    for (const name of people) await pageOf(url, name).react('m', { value: 'up', comment: 'x'.repeat(2000) });
    await ann.session.update({ title: 'marks a place' });
    const seen = await upTo(({ type }) => type === 'session_updated');
    const [first, ...others] = seen
      .filter(({ type }) => type === 'reaction')
      .map((event) => JSON.stringify(event).length);
    for (const size of others) expect(size).to.be.closeTo(first!, 20);
    // The beginning was not pushed out.
    expect(seen[0]!.type).to.equal('message_accepted');
    const [{ reactions = [] } = {} as Message] = (await ann.session.state()).messages;
    expect(reactions.map(({ by }) => by)).to.deep.equal(people);
  });

  it('are imported with the messages that they are of', async () => {
    const { gateway, ann } = await startShared(echo);
    const { message } = await ann.session.send('hi').result;
    await sessionReactions(ann.client, 'main').react(message.id, { value: 'up' });
    const host = gateway.session('main', { user: { id: 'ann' } });
    const copy = gateway.session('copy', { user: { id: 'ann' } });
    await copy.import(await collect(host.export()));
    const { messages } = await copy.history();
    expect(messages.map(opinions)).to.deep.equal([[], [{ by: 'ann', value: 'up' }]]);
  });

  it('stay when their events are cut, also those of messages that were rows by then', async () => {
    const kit = closeLater(
      await testGateway({
        app: echo,
        store: sqliteStore({ path: newDatabase() }),
        limits: { retention: { events: 20, bytes: 1e9, ageMs: 1e12 }, sendsPerSecond: 10_000 },
      }),
      (it) => it.close(),
    );
    const client = kit.client({ user: 'ann' });
    const session = client.session('main');
    const { react } = sessionReactions(client as never, 'main');
    const { message: first } = await session.send('first').result;
    const fill = async () => {
      for (let n = 0; n < 12; n++) await session.send(`${n}`).result;
    };
    await react(first.id, { value: 'up' });
    await fill();
    await react(first.id, { value: 'down' });
    const { message: second } = await session.send('second').result;
    await react(second.id, { value: 'up' });
    const opinionsOf = async (id: string) => {
      const { messages } = await session.history({ limit: 1000 });
      return opinions(messages.find((message) => message.id === id) as Message);
    };
    for (let round = 0; round < 3; round++) {
      expect(await opinionsOf(first.id)).to.deep.equal([{ by: 'ann', value: 'down' }]);
      expect(await opinionsOf(second.id)).to.deep.equal([{ by: 'ann', value: 'up' }]);
      await kit.kill();
      await fill();
    }
  });

  describe('refuses, naming the field, and logs nothing', () => {
    const cases: readonly (readonly [string, object, string, string])[] = [
      ['a message that there is not', { messageId: 'none', value: 'up' }, 'messageId', 'MESSAGE_NOT_FOUND'],
      ['no message', { value: 'up' }, 'messageId', 'INVALID_PARAMS'],
      ['no value', { messageId: 'm' }, 'value', 'INVALID_PARAMS'],
      ['a value that is too long', { messageId: 'm', value: 'x'.repeat(33) }, 'value', 'INVALID_PARAMS'],
      [
        'a comment that is too long',
        { messageId: 'm', value: 'up', comment: 'x'.repeat(51) },
        'comment',
        'INVALID_PARAMS',
      ],
      [
        'a comment without a value',
        { messageId: 'm', value: null, comment: 'x' },
        'comment',
        'INVALID_PARAMS',
      ],
    ];
    for (const [name, params, path, code] of cases)
      it(name, async () => {
        const { url, ann } = await startShared(echo, { limits: { noteLength: 50 } });
        await ann.session.send({ id: 'm', content: 'hi' }).result;
        const { head } = (await ann.session.status()) as { head: number };
        const { status, body } = await post(`${url}/react`, { sessionId: 'main', ...params }, as('ann'));
        expect([status, body.error.code]).to.deep.equal([code === 'INVALID_PARAMS' ? 400 : 404, code]);
        expect(body.error.details[0].path).to.equal(path);
        expect(await ann.session.status()).to.include({ head });
      });

    it('one more than `limits.reactionsPerMessage`, but not another one of the same person', async () => {
      const { ann, ben } = await startShared(echo, { limits: { reactionsPerMessage: 1 } });
      await ann.session.send({ id: 'm', content: 'hi' }).result;
      await sessionReactions(ann.client, 'main').react('m', { value: 'up' });
      await sessionReactions(ann.client, 'main').react('m', { value: 'down' });
      const refused = await failure(sessionReactions(ben.client, 'main').react('m', { value: 'up' }));
      expect(refused).to.include({ code: 'QUOTA_EXCEEDED' });
      expect(refused.message).to.include('limits.reactionsPerMessage');
    });
  });
});
