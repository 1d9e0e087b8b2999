import { expect } from 'chai';
import { liveConnection, liveSession } from '../../client/svelte/index.js';
import { initialState } from '../../shared/fold.js';
import { FRAMEWORKS, renderOnServer, silentClient } from './frameworks.js';

const message = { id: 'm', role: 'user', content: [{ type: 'text', text: 'Hi' }], createdAt: 1 } as const;
const initial = { ...initialState, cursor: 'AAAAAAAAAAA.1.4', messages: [message] };

for (const framework of FRAMEWORKS)
  describe(framework.name, () => {
    it('renders on a server what it is given, and asks nobody', async () => {
      const { client, asked } = silentClient();
      const html = await renderOnServer(framework, { client, id: 'main', initial });
      expect(html.replace(/<!--.*?-->|(?<=>) /g, '')).to.equal(
        `<h1>ready</h1><h2>${framework.health}</h2><h3>0</h3><ol><li>Hi</li></ol><p></p>`,
      );
      expect(asked).to.deep.equal([]);
      expect(client.connection.state).to.equal('closed');
    });
  });

describe('svelte', () => {
  it('has stores outside of components, which ask nobody before somebody keeps them', () => {
    const { client, asked } = silentClient();
    const values: string[] = [];
    liveSession(client, 'main').subscribe(({ status }) => values.push(status))();
    liveConnection(client).subscribe((health) => values.push(health))();
    expect(values).to.deep.equal(['loading', 'online']);
    expect(asked).to.deep.equal([]);
    expect(client.connection.state).to.equal('closed');
  });
});
