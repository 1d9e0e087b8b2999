import { expect } from 'chai';
import { sessionRetraction } from '../../client/people/index.js';
import { textOf } from '../../shared/messages.js';
import { begin } from '../grants/cast.js';
import { connectClient } from '../support/client.js';
import { get, post } from '../support/gateway.js';
import { codeOf } from '../support/refused.js';
import { as } from '../support/users.js';

/** A session of Ann's with a question and its answer, of which Ben has a grant. */
async function shared(role: 'operator' | 'member', given: Parameters<typeof begin>[0] = {}) {
  const it = await begin(given);
  await it.send('hi');
  const { sessionId } = await it.shared({ with: { userId: 'ben' }, as: role });
  const history = async () => (await get(`${it.url}/history?sessionId=main`, it.ann)).body.messages;
  const ben = connectClient(it.url, { token: 'ben' });
  return { ...it, sessionId, history, ben: sessionRetraction(ben, sessionId) };
}

describe('the operation that takes a message back', () => {
  it('lets staff with a grant as operator take back what anybody wrote, in their own name', async () => {
    const { ben, history } = await shared('operator');
    const [question, answer] = await history();
    await ben.retract(answer.id, { reason: 'A wrong dose' });
    await ben.retract(question.id);
    const after = await history();
    expect(after.map(textOf)).to.deep.equal(['', '']);
    expect(after[1].retracted).to.deep.include({ by: 'ben', reason: 'A wrong dose' });
    expect(after[0].retracted).to.have.keys('at', 'by');
  });

  it('is refused to a member, to a stranger and by the host, and changes nothing', async () => {
    const denied: string[] = [];
    const it = await shared('member', {
      sessionAccess: ({ id }, _session, operation) => {
        if (operation === 'retract') denied.push(id);
        return !(operation === 'retract' && id === 'ann');
      },
    });
    const before = await it.history();
    const messageId = before[1].id;
    expect(await codeOf(() => it.ben.retract(messageId))).to.equal('ACCESS_DENIED');
    for (const [who, sessionId] of [
      ['ann', 'main'],
      ['eve', it.sessionId],
    ]) {
      const { body } = await post(`${it.url}/retract`, { sessionId, messageId }, as(who!));
      expect(body.error.code).to.equal('SESSION_NOT_FOUND');
    }
    expect(denied).to.include('ann');
    expect(await it.history()).to.deep.equal(before);
  });

  it('names the field that is wrong', async () => {
    const { url, ann, history } = await shared('member', { limits: { noteLength: 10 } });
    const [{ id: messageId }] = await history();
    const fieldOf = async (params: object) => {
      const { body } = await post(`${url}/retract`, { sessionId: 'main', messageId, ...params }, ann);
      return [body.error?.code, body.error?.details?.[0]?.path ?? body.error?.details?.messageId];
    };
    expect(await fieldOf({ reason: 'x'.repeat(11) })).to.deep.equal(['INVALID_PARAMS', 'reason']);
    expect(await fieldOf({ reason: '' })).to.deep.equal(['INVALID_PARAMS', 'reason']);
    expect(await fieldOf({ by: 'somebody else' })).to.deep.equal(['INVALID_PARAMS', 'by']);
    expect(await fieldOf({ messageId: 'none' })).to.deep.equal(['MESSAGE_NOT_FOUND', 'none']);
  });
});
