import { z } from 'zod';
import { defineApp, GatewayError, type MethodContext, method, tool } from '../../server/index.js';
import { type Gate, gate } from '../support/gate.js';

/** What the test and its app say to each other. */
export interface Stage {
  /** Opened when a run has said its first word. */
  readonly began: Gate;
  /** Lets a run that waits go on. */
  readonly held: Gate;
  /** Called before some of the pieces of a `long` run. */
  cut: () => void;
  /** Opened when a streaming method has been left. */
  readonly left: Gate;
  /** Opened when a method that waits has been aborted. */
  readonly aborted: Gate;
  /** Opened when the method that waits has been entered. */
  readonly entered: Gate;
}

export const newStage = (): Stage => ({
  began: gate(),
  held: gate(),
  cut: () => {},
  left: gate(),
  aborted: gate(),
  entered: gate(),
});

export const PIECES = 60;
export const piece = (index: number): string => `${index} é 漢字 👩‍👩‍👧 `;

/** Echoes; `hold …` waits for the stage, `long` says many pieces, `delete …` asks first, `ask` asks the person. */
export function behaviourApp(stage: Stage) {
  return defineApp({
    description: 'Does as it is told',
    tools: {
      remove: tool({
        description: 'Removes a file',
        schema: z.object({ file: z.string() }),
        confirm: true,
        handler: async ({ file }) => `removed ${file}`,
      }),
    },
    async *run(turn) {
      const [word = ''] = turn.text.split(' ');
      if (word === 'hold') {
        yield 'working ';
        stage.began.open();
        await stage.held.passed;
        const steered = turn.steered();
        yield steered.length > 0 ? `steered by ${steered.length}` : 'done';
      } else if (word === 'long') {
        for (let index = 0; index < PIECES; index++) {
          if (index % 20 === 10) stage.cut();
          // Each in a turn of its own, so that cuts fall between them.
          await new Promise(setImmediate);
          yield piece(index);
        }
      } else if (word === 'delete') {
        yield String(await turn.callTool('remove', { file: turn.text.slice(7) }));
      } else if (word === 'ask') {
        yield `you said ${JSON.stringify(await turn.ask({ name: 'colour' }))}`;
      } else if (word === 'fail') {
        throw new Error('a secret of the app');
      } else {
        yield 'echo: ';
        yield turn.text;
      }
    },
  });
}

/** Methods of every kind. */
export function behaviourMethods(stage: Stage) {
  return {
    ping: async () => ({ pong: true }),
    nothing: async () => undefined,
    when: async () => ({ at: new Date(0) }),
    who: async (_params: unknown, context: MethodContext) => context.user?.id,
    tasks: {
      create: method({
        schema: z.object({ title: z.string().min(1) }),
        handler: async ({ title }) => ({ title }),
      }),
      admin: method({ roles: ['admin'], handler: async () => 'secret' }),
    },
    refuse: async () => {
      throw new GatewayError({
        code: 'OUT_OF_STOCK',
        status: 409,
        message: 'None left',
        details: { left: 0 },
      });
    },
    crash: async () => {
      throw new Error('a secret of the host');
    },
    wait: async (_params: unknown, context: MethodContext) => {
      stage.entered.open();
      await new Promise<void>((resolve) => context.signal.addEventListener('abort', () => resolve()));
      stage.aborted.open();
      return 'too late';
    },
    count: async function* (params: unknown) {
      const { to, failAt } = (params ?? {}) as { to?: number; failAt?: number };
      try {
        for (let index = 1; index <= (to ?? Number.POSITIVE_INFINITY); index++) {
          if (index === failAt) throw new GatewayError({ code: 'OVERLOADED', message: 'enough' });
          await new Promise(setImmediate);
          yield index;
        }
      } finally {
        stage.left.open();
      }
    },
  };
}
