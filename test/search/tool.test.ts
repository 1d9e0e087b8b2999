import { expect } from 'chai';
import { defineApp, type Gateway, searchSessions } from '../../server/index.js';
import { beginSearch } from './begin.js';

describe('searchSessions', () => {
  it('finds for an app what the sender of the message may see, and nothing else', async () => {
    let gateway: Gateway | undefined;
    const app = defineApp({
      tools: { searchSessions: searchSessions(() => gateway!) },
      async *run(turn) {
        if (turn.text !== 'find') return void (yield 'noted');
        const { found } = (await turn.callTool('searchSessions', { query: 'swordfish' })) as {
          found: readonly { readonly sessionId: string }[];
        };
        yield found.map(({ sessionId }) => sessionId).join();
      },
    });
    const started = await beginSearch({ apps: undefined, defaultApp: undefined, app });
    gateway = started.gateway;
    const [ann, ben] = ['ann', 'ben'].map((token) => started.person(token).client);
    await ann!.session('notes').send('the password is swordfish').result;
    const asked = async (client: typeof ann) => {
      const { message } = await client!.session('main').send('find').result;
      return message.content.flatMap((block) => (block.type === 'text' ? block.text : [])).join('');
    };
    expect(await asked(ann)).to.equal('notes');
    expect(await asked(ben)).to.equal('');
  });
});
