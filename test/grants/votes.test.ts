import { expect } from 'chai';
import { type ConfirmPolicy, defineApp, tool } from '../../server/index.js';
import { FAST, post } from '../support/gateway.js';
import { openStream } from '../support/sse-client.js';
import { as } from '../support/users.js';
import { begin, told } from './cast.js';

/** Ann's session with a question by a policy, links to it, and votes as whoever shows which token. */
async function asked(confirm: ConfirmPolicy, by: 'ann' | 'a guest' = 'ann') {
  const paid: unknown[] = [];
  const pay = tool({ confirm, handler: () => void paid.push('paid') });
  const app = defineApp({
    tools: { pay },
    async run(turn) {
      if (turn.text === 'pay') await turn.callTool('pay', {});
      return 'done';
    },
  });
  const started = await begin({ app, limits: FAST, shareLinks: { upTo: 'operator' } });
  const { url, send, shared } = started;
  await send('hi');
  const { sessionId, token } = await shared({ with: { link: true }, as: 'operator' });
  const stream = await openStream(`${url}/events?sessionId=main&from=earliest`, { headers: as('ann') });
  const sender = by === 'ann' ? ([as('ann'), 'main'] as const) : ([as(`${token}.one`), sessionId] as const);
  const accepted = { ...sender[0], prefer: 'respond-async' };
  await post(`${url}/send`, { sessionId: sender[1], message: 'pay' }, accepted);
  const question = await stream.until(({ event }) => event === 'tool_confirmation_required');
  const { callId } = question.data as { callId: string };
  const vote = async (name: string, at = sessionId) =>
    told(await post(`${url}/tool-response`, { sessionId: at, callId, approved: true }, as(name)));
  return { ...started, sessionId, token: token!, vote, paid, stream };
}

describe('votes of guests', () => {
  it('count for nothing where the policy does not say so', async () => {
    const { token, vote, paid } = await asked({ approvals: 1 });
    expect(await vote(`${token}.one`)).to.deep.equal([403, 'GUARD_DENIED']);
    expect(await vote(token)).to.deep.equal([403, 'GUARD_DENIED']);
    expect(paid).to.deep.equal([]);
    expect(await vote('ann', 'main')).to.deep.equal([200, undefined]);
  });

  it('are one person’s, by however many names and links, together with who gave the links', async () => {
    const { shared, token, vote, paid, stream } = await asked({ approvals: 2, guests: true });
    const second = await shared({ with: { link: true }, as: 'member' });
    for (const name of ['one', 'two', 'three'])
      expect(await vote(`${token}.${name}`)).to.deep.equal([200, undefined]);
    expect(await vote(second.token!, second.sessionId)).to.deep.equal([200, undefined]);
    expect(await vote('ann', 'main')).to.deep.equal([200, undefined]);
    expect(paid).to.deep.equal([]);
    expect(stream.events.filter(({ event }) => event === 'tool_confirmation_vote')).to.have.length(1);
    const { sessionId } = await shared({ with: { userId: 'ben' }, as: 'member' });
    expect(await vote('ben', sessionId)).to.deep.equal([200, undefined]);
    await stream.until(({ event }) => event === 'tool_result');
    expect(paid).to.deep.equal(['paid']);
  });

  it('are their giver’s also where a guest has given the link on', async () => {
    const { url, sessionId, token, vote, paid } = await asked({ approvals: 2, guests: true });
    const given = await post(
      `${url}/share`,
      { sessionId, with: { link: true }, as: 'member' },
      as(`${token}.one`),
    );
    await vote(given.body.token, given.body.grant.sessionId);
    await vote(token);
    await vote('ann', 'main');
    expect(paid).to.deep.equal([]);
  });

  it('are the sender’s where another name of the same link has asked', async () => {
    const { token, vote, paid } = await asked({ approvals: 1, guests: true, notBy: 'sender' }, 'a guest');
    expect(await vote(`${token}.two`)).to.deep.equal([403, 'GUARD_DENIED']);
    expect(await vote('ann', 'main')).to.deep.equal([403, 'GUARD_DENIED']);
    expect(paid).to.deep.equal([]);
  });
});
