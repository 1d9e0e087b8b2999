import { expect } from 'chai';
import { defineApp } from '../../../server/index.js';
import { askBelow, posting, startDoor } from '../door.js';
import { DOORS } from './doors.js';

const app = defineApp({
  async *run(turn) {
    yield `heard "${turn.text}"`;
  },
});
const FUNCTION = { type: 'object', properties: {} };
const many = Array.from({ length: 200 }, (_, at) => `tool-${at}`);

/** For each door: where it is posted to, a request that is fine, and changes of it beside the field that the error must name. */
const REQUESTS: Record<
  string,
  { path(name: string): string; ok: object; wrong: readonly [object, string][] }
> = {
  'chat completions': {
    path: () => '/v1/chat/completions',
    ok: { model: 'default', messages: [{ role: 'user', content: 'x' }] },
    wrong: [
      [
        { tools: many.map((name) => ({ type: 'function', function: { name, parameters: FUNCTION } })) },
        'tools',
      ],
    ],
  },
  Responses: {
    path: () => '/v1/responses',
    ok: { input: 'x' },
    wrong: [
      [{ tools: many.map((name) => ({ type: 'function', name, parameters: FUNCTION })) }, 'tools'],
      [{ conversation: 'a b' }, 'conversation'],
    ],
  },
  useChat: {
    path: () => '/api/chat',
    ok: { id: 'main', messages: [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'x' }] }] },
    wrong: [
      [{ id: 'a b' }, 'id'],
      [{ tools: Object.fromEntries(many.map((name) => [name, { parameters: FUNCTION }])) }, 'tools'],
    ],
  },
  'AG-UI': {
    path: () => '/ag-ui/agent/default',
    ok: {
      threadId: 'main',
      runId: 'r',
      messages: [{ id: 'm', role: 'user', content: 'x' }],
      tools: [],
      context: [],
      state: {},
      forwardedProps: {},
    },
    wrong: [
      [{ threadId: 'a b' }, 'threadId'],
      [
        {
          runId: 'other',
          threadId: 'other',
          tools: many.map((name) => ({ name, description: '', parameters: FUNCTION })),
        },
        'tools',
      ],
    ],
  },
  LangGraph: {
    path: (name) => `/langgraph/threads/${encodeURIComponent(name)}/runs/wait`,
    ok: { assistant_id: 'default', input: { messages: [{ type: 'human', content: 'x' }] } },
    wrong: [[{ name: 'a b' }, 'thread_id']],
  },
};

describe('the errors of doors', () => {
  for (const door of DOORS) {
    const requests = REQUESTS[door.name];
    if (!requests) continue;
    it(`name fields as the clients of ${door.name} have them`, async () => {
      const { url } = await startDoor(door.plugin(), { app });
      const post = (more: any) =>
        askBelow(url)(requests.path(more.name ?? 'main'), posting({ ...requests.ok, ...more }));
      expect((await post({})).status).to.equal(200);
      for (const [more, field] of requests.wrong) {
        const response = await post(more);
        const text = await response.text();
        expect(response.status, text).to.equal(400);
        expect(text).to.match(new RegExp(`(?:^|")${field}: must`));
        expect(text).to.not.match(/clientTools:|sessionId|message\.content|of send/);
      }
    });
  }
});

describe('an empty message', () => {
  // TanStack's client sends no empty message.
  for (const door of DOORS.filter(({ name }) => name !== 'TanStack AI'))
    it(`is answered by ${door.name}, as others answer it`, async () => {
      const { url } = await startDoor(door.plugin(), { app });
      const tab = await door.open({ url });
      expect(await tab.say('')).to.equal('heard ""');
      expect(await tab.say('more')).to.equal('heard "more"');
    });
});
