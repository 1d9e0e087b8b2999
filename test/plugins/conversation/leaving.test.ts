import { expect } from 'chai';
import type { GatewayPlugin } from '../../../server/index.js';
import { agUiPlugin } from '../../../server/plugins/ag-ui/index.js';
import type { ConversationOptions } from '../../../server/plugins/conversation/options.js';
import { langGraphPlugin } from '../../../server/plugins/langgraph/index.js';
import { responsesPlugin } from '../../../server/plugins/responses/index.js';
import { uiMessageStreamPlugin } from '../../../server/plugins/ui-message-stream/index.js';
import { halting } from '../../support/apps.js';
import { FAST } from '../../support/gateway.js';
import { type AskInit, askBelow, posting, startDoor } from '../door.js';

type Options = Pick<ConversationOptions, 'onLeave'>;

interface LeftDoor {
  readonly name: string;
  plugin(options: Partial<Options>): GatewayPlugin;
  /** Whether the answer comes only when it is whole. @default false */
  readonly isWhole?: boolean;
  /** The request of a page that reads the answer as a stream. */
  readonly request: readonly [path: string, init: AskInit];
  /** The same, but for an answer that goes on whatever the option says. */
  readonly lasting?: readonly [path: string, init: AskInit];
}

const ui = { id: 'main', messages: [{ id: 'm1', role: 'user', parts: [{ type: 'text', text: 'go' }] }] };
const agUi = {
  ...{ threadId: 'main', runId: 'r1', tools: [], context: [], state: {}, forwardedProps: {} },
  messages: [{ id: 'm1', role: 'user', content: 'go' }],
};
const named = { headers: { 'x-session-id': 'main' } };
const response = { model: 'default', input: 'go' };
const langGraph = { assistant_id: 'default', if_not_exists: 'create', stream_mode: ['messages'] };
const thread = { ...langGraph, input: { messages: [{ type: 'human', content: 'go' }] } };

const LEFT: readonly LeftDoor[] = [
  {
    name: 'UI message stream',
    plugin: (options) => uiMessageStreamPlugin(options),
    request: ['/api/chat', posting(ui)],
  },
  {
    name: 'AG-UI',
    plugin: (options) => agUiPlugin(options),
    request: ['/ag-ui/agent/default', posting(agUi)],
  },
  {
    name: 'Responses, streamed',
    plugin: (options) => responsesPlugin(options),
    request: ['/v1/responses', posting({ ...response, stream: true }, named)],
    lasting: ['/v1/responses', posting({ ...response, stream: true, background: true }, named)],
  },
  {
    name: 'Responses, whole',
    plugin: (options) => responsesPlugin(options),
    isWhole: true,
    request: ['/v1/responses', posting(response, named)],
  },
  {
    name: 'LangGraph',
    plugin: (options) => langGraphPlugin(options),
    request: ['/langgraph/threads/main/runs/stream', posting(thread)],
    lasting: ['/langgraph/threads/main/runs/stream', posting({ ...thread, on_disconnect: 'continue' })],
  },
];

for (const door of LEFT)
  describe(`a client that leaves an answer: ${door.name}`, () => {
    /** Asks, and leaves once the run has begun, which then goes on if it is not to end by that. @returns how it ended */
    const leave = async (
      options: Partial<Options>,
      { ends, request: [path, init] = door.request }: { readonly ends: boolean } & Partial<LeftDoor>,
    ): Promise<string> => {
      const { app, held, began } = halting('a', 'b');
      const { gateway, url } = await startDoor(door.plugin(options), { app, limits: FAST });
      const ended = new Promise<string>((resolve) => {
        gateway.on('run:ended', ({ stopReason }) => resolve(stopReason));
      });
      const left = new AbortController();
      const asked = askBelow(url)(path, { ...init, signal: left.signal });
      const read = asked.then((answer) => answer.text()).catch(() => 'left');
      await began.passed;
      if (!door.isWhole) await asked;
      left.abort();
      expect(await read).to.equal('left');
      if (!ends) held.open();
      return ended;
    };

    it('finds that it went on', async () => {
      expect(await leave({}, { ends: false })).to.equal('end');
    });

    it("ends it where the door says so: onLeave: 'abort'", async () => {
      expect(await leave({ onLeave: 'abort' }, { ends: true })).to.equal('aborted');
    });

    if (door.lasting)
      it('has it go on if the request says so', async () => {
        expect(await leave({ onLeave: 'abort' }, { ends: false, request: door.lasting! })).to.equal('end');
      });

    it('is told of an option that there is not', () => {
      expect(() => door.plugin({ onLeave: 'stay' as never })).to.throw(/onLeave/);
    });
  });
