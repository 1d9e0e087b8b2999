import { expect } from 'chai';
import { compileFiles } from '../support/compile.js';

const SCHEMAS = `
import { z } from 'zod';
export const channels = { tasks: z.object({ id: z.number() }) };
export const events = { 'task:created': z.object({ id: z.number() }) };

declare module 'agent-session-gateway' {
  interface Register {
    user: { readonly id: string; readonly plan: 'free' | 'paid' };
    channels: typeof channels;
    events: typeof events;
  }
}
`;

const APP = `
import { createGateway, defineApp, getContext, method } from 'agent-session-gateway';
import { type Equal, expectType } from '../../test/types/fixtures/equal.js';
import { channels, events } from './schemas.js';

const app = defineApp({
  async *run(turn) {
    expectType<Equal<NonNullable<typeof turn.user>['plan'], 'free' | 'paid'>>();
    turn.publish('tasks', { id: 1 });
    turn.emit('task:created', { id: 1 });
    // @ts-expect-error an id is a number
    turn.publish('tasks', { id: '1' });
    // @ts-expect-error not declared
    turn.emit('task:lost', {});
    yield 'done';
  },
});

export const gateway = createGateway({
  app,
  channels,
  events,
  methods: {
    create: method({
      handler: async (_params, context) => {
        await context.channels?.publish('tasks', { id: 1 }, { type: 'created' });
        getContext().emit('task:created', { id: 1 });
        // @ts-expect-error not declared
        await context.channels?.publish('others', 1);
        // @ts-expect-error an id is required
        context.emit('task:created', {});
        return context.user?.plan;
      },
    }),
  },
});
`;

describe('the types an application registers', () => {
  it('are those of its users, channels and events everywhere', async () => {
    const output = await compileFiles('types-register', { 'schemas.ts': SCHEMAS, 'app.ts': APP });
    expect(output).to.equal('');
  });
});
