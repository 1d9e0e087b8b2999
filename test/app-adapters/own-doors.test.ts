import { expect } from 'chai';
import { a2aApp } from '../../server/app-adapters/a2a/index.js';
import { agUiApp } from '../../server/app-adapters/ag-ui/index.js';
import { type Application, defineApp, type GatewayPlugin, tool } from '../../server/index.js';
import { a2aPlugin } from '../../server/plugins/a2a/index.js';
import { agUiPlugin } from '../../server/plugins/ag-ui/index.js';
import { textOf } from '../../shared/messages.js';
import { startDoor } from '../plugins/door.js';
import { as } from '../support/users.js';
import { follow, serve } from './served.js';

/** An app behind a gateway, whose door is the agent of another one. */
const shop = () => {
  const erased: unknown[] = [];
  const erase = tool({
    confirm: true,
    confirmMessage: 'Erase?',
    handler: (input) => {
      erased.push(input);
      return 'erased';
    },
  });
  const app = defineApp({
    tools: { erase },
    async *run(turn) {
      yield `You said ${turn.text}. `;
      await turn.callTool('erase', { path: '/a' } as never);
      turn.data('note', { n: 1 });
      yield 'Done.';
    },
  });
  return { app, erased };
};

const CIRCLES: readonly [string, GatewayPlugin, (origin: string) => Application][] = [
  [
    'AG-UI',
    agUiPlugin(),
    (origin) => agUiApp({ url: `${origin}/ag-ui/agent/default`, headers: as('alice') }) as never,
  ],
  ['A2A', a2aPlugin(), (origin) => a2aApp({ url: origin, headers: as('alice') }) as never],
];

describe('an app whose agent is the door of a gateway', () => {
  for (const [name, plugin, appOf] of CIRCLES)
    it(`has its text and its approvals, by ${name}`, async () => {
      const { app, erased } = shop();
      const inner = await startDoor(plugin, { app } as never);
      const { client } = await serve(appOf(inner.url));
      const session = client.session('main');
      for (const text of ['Hello', 'Again']) {
        const run = session.send(text);
        const told = await follow(run, async (event) => {
          if (event.type === 'tool_confirmation_required') await session.approve(event.callId);
        });
        const asked = told.find(([type]) => type === 'tool_confirmation_required');
        expect(asked?.slice(2)).to.deep.equal(['erase', { path: '/a' }]);
        const { message, stopReason } = await run.result;
        expect(stopReason).to.equal('end');
        const block = message.content.find(({ type }) => type === 'data');
        expect(block).to.deep.include({ name: 'note', value: { n: 1 } });
        expect(textOf(message).replace('\n\n', '')).to.equal(`You said ${text}. Done.`);
      }
      expect(erased).to.have.length(2);
    });
});
