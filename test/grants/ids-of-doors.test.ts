import { expect } from 'chai';
import { responsesPlugin } from '../../server/plugins/responses/index.js';
import { uiMessageStreamPlugin } from '../../server/plugins/ui-message-stream/index.js';
import { as } from '../support/users.js';
import { begin } from './cast.js';

/** A session that ann shares with ben, who asks below an address. */
async function beginShared() {
  const { gateway, send, shared, url } = await begin();
  gateway.use(responsesPlugin());
  gateway.use(uiMessageStreamPlugin());
  await send('hi');
  const { sessionId } = await shared({ with: { userId: 'ben' }, as: 'member' });
  const ask = (path: string, body?: object, headers: Record<string, string> = {}) =>
    fetch(`${url}/${path}`, {
      headers: { ...as('ben'), 'content-type': 'application/json', ...headers },
      ...(body && { method: 'POST', body: JSON.stringify(body) }),
    });
  return { sessionId, ask };
}

describe('the ids of other protocols in a shared session', () => {
  it('a response is retrieved, its items are listed, and the next one follows it', async () => {
    const { sessionId, ask } = await beginShared();
    const first = await ask(
      'v1/responses',
      { model: 'default', input: 'one' },
      { 'x-session-id': sessionId },
    );
    const { id, output } = (await first.json()) as any;
    expect(first.status).to.equal(200);
    const again = await ask(`v1/responses/${id}`);
    expect(again.status).to.equal(200);
    expect(((await again.json()) as any).output).to.deep.equal(output);
    expect((await ask(`v1/responses/${id}/input_items`)).status).to.equal(200);
    const next = await ask('v1/responses', { model: 'default', input: 'two', previous_response_id: id });
    expect(next.status).to.equal(200);
    const item = [{ type: 'item_reference', id: output.at(-1).id }];
    expect(
      (await ask('v1/responses', { model: 'default', input: [...item, { role: 'user', content: 'x' }] }))
        .status,
    ).to.equal(200);
  });

  it('a segment of useChat is told again', async () => {
    const { sessionId, ask } = await beginShared();
    const message = { id: 'm1', role: 'user', parts: [{ type: 'text', text: 'one' }] };
    const posted = await ask('api/chat', { id: sessionId, trigger: 'submit-message', message });
    expect(posted.status).to.equal(200);
    const told = await posted.text();
    const segment = posted.headers.get('x-resumable-stream-id')!;
    expect(segment).to.be.a('string');
    const again = await ask(`api/chat/${encodeURIComponent(segment)}/stream`);
    expect(again.status).to.equal(200);
    expect(await again.text()).to.equal(told);
  });
});
