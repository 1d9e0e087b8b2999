import { z } from 'zod';
import { type Application, createGateway, type LimitsInput, type Store } from '../index.js';
import { chatCompletionsPlugin } from '../plugins/chat-completions/index.js';
import { type DemoTokens, demoAuth } from './access.js';
import { createTaskMethods } from './tasks.js';

/** What the demo gateway is made of. */
export interface DemoOptions {
  readonly app: Application;
  readonly tokens: DemoTokens;
  readonly host?: string | undefined;
  readonly port?: number | undefined;
  readonly limits?: LimitsInput | undefined;
  readonly store?: Store | undefined;
}

/** The gateway that `npm start` runs. Its type is what a typed client of the demo imports. */
export function createDemoGateway({ app, tokens, host, port, limits, store }: DemoOptions) {
  const gateway = createGateway({
    apps: { demo: app },
    defaultApp: 'demo',
    host,
    port,
    limits,
    store,
    auth: demoAuth(tokens),
    methods: createTaskMethods(),
    channels: { announcements: z.object({ text: z.string() }) },
  });
  return gateway.use(chatCompletionsPlugin());
}

export type DemoGateway = ReturnType<typeof createDemoGateway>;
