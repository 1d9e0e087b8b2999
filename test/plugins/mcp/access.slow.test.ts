import { expect } from 'chai';
import { abc } from './letter-app.js';
import { INITIALIZE, postMcp, startMcp } from './mcp-clients.js';

describe('a tool filter that does not answer', () => {
  it('denies after a while', async () => {
    const { url } = await startMcp({ app: abc }, { toolFilter: () => new Promise(() => {}) });
    const answer = await postMcp(url, INITIALIZE);
    expect(answer.status).to.equal(403);
    expect((await answer.json()).error).to.deep.include({ code: -32000, data: { code: 'GUARD_DENIED' } });
  });
});
