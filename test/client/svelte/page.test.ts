import { expect } from 'chai';
import { createClient } from '../../../client/index.js';
import { liveConnection, liveSession } from '../../../client/svelte/index.js';
import { initialState } from '../../../shared/fold.js';
import { CHAT } from './chat.js';
import { renderOnServer } from './compile.js';

describe('svelte', () => {
  it('renders on a server what it is given, and asks nobody', async () => {
    const asked: unknown[] = [];
    const client = createClient({
      baseUrl: 'http://127.0.0.1:1',
      fetch: async (input) => {
        asked.push(input);
        throw new TypeError('asked');
      },
    });
    const message = { id: 'm', role: 'user', content: [{ type: 'text', text: 'Hi' }], createdAt: 1 } as const;
    const initial = { ...initialState, cursor: 'AAAAAAAAAAA.1.4', messages: [message] };
    const html = await renderOnServer({ 'chat.svelte': CHAT }, 'chat.svelte', {
      client,
      id: 'main',
      initial,
    });
    expect(html.replace(/<!--.*?-->/g, '')).to.equal(
      '<h1>ready</h1><h2>online</h2><h3>0</h3> <ol><li>Hi</li></ol><p></p>',
    );
    const values: string[] = [];
    liveSession(client, 'main').subscribe(({ status }) => values.push(status))();
    liveConnection(client).subscribe((health) => values.push(health))();
    expect(values).to.deep.equal(['loading', 'online']);
    expect(asked).to.deep.equal([]);
    expect(client.connection.state).to.equal('closed');
  });
});
