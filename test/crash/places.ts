import { type Application, defineApp, getContext, method, type Turn, tool } from '../../server/index.js';

/** Makes the hostile value of the running cell. */
export const hostile: { make: () => unknown } = { make: () => undefined };
const value = (): any => hostile.make();
const toss = (): never => {
  throw value();
};
const reject = (): Promise<never> => Promise.reject(value());

/** An iterator whose first item is the value, and whose end fails. */
const once = () => {
  let asked = 0;
  return { next: () => (asked++ === 0 ? value() : { done: true, value: undefined }), return: toss };
};

/** A schema whose own code is what a test wants. */
const schemaOf = (validate: () => unknown): any => ({
  '~standard': { version: 1, vendor: 'test', validate },
});

/** Methods by the place at which the value enters. */
export const methodPlaces: Readonly<Record<string, any>> = {
  result: () => value(),
  'late-result': async () => value(),
  throw: toss,
  reject,
  'schema-throw': method({ schema: schemaOf(toss), handler: () => 1 }),
  'schema-reject': method({ schema: schemaOf(reject), handler: () => 1 }),
  'schema-answer': method({ schema: schemaOf(value), handler: () => 1 }),
  'schema-issues': method({ schema: schemaOf(() => ({ issues: [value()] })), handler: () => 1 }),
  'schema-issue-path': method({
    schema: schemaOf(() => ({ issues: [{ message: value(), path: [value()] }] })),
    handler: () => 1,
  }),
  'schema-value': method({ schema: schemaOf(() => ({ value: value() })), handler: (params: any) => params }),
  'result-schema': method({ result: schemaOf(toss), handler: () => 1 }),
  'guard-throw': method({ guard: toss, handler: () => 1 }),
  'guard-reject': method({ guard: reject, handler: () => 1 }),
  'guard-answer': method({ guard: value, handler: () => 1 }),
  publish: async () => {
    getContext().channels?.publish('room', value());
    return 'published';
  },
  'publish-typed': async () => {
    getContext().channels?.publish('typed', value());
    return 'published';
  },
  'publish-on': async () => {
    getContext().channels?.publish(value(), 1, value());
    return 'published';
  },
  emit: async () => {
    getContext().emit('custom', value());
    return 'emitted';
  },
  'emit-typed': async () => {
    getContext().emit('typed', value());
    return 'emitted';
  },
  'emit-name': async () => {
    getContext().emit(value(), 1);
    return 'emitted';
  },
};

/** Streaming methods likewise. */
export const streamPlaces: Readonly<Record<string, any>> = {
  yield: async function* () {
    yield 1;
    yield value();
  },
  'stream-throw': async function* () {
    yield 1;
    toss();
  },
  'first-throw': async function* () {
    toss();
    yield 1;
  },
  'no-iterable': method({ stream: true, handler: async () => value() }),
  'odd-iterator': method({
    stream: true,
    handler: async () => ({ [Symbol.asyncIterator]: once }) as never,
  }),
  'clean-up': async function* () {
    try {
      yield value();
      throw new Error('left');
    } finally {
      toss();
    }
  },
  'item-schema': method({
    result: schemaOf(toss),
    handler: async function* () {
      yield 1;
    },
  }),
};

/** What of host code hears of each event. */
export const listenerPlaces: Readonly<Record<string, () => unknown>> = { throw: toss, reject, answer: value };

const run = (body: (turn: Turn) => unknown): Application => defineApp({ run: body as never });
const calling = (definition: object): Application =>
  defineApp({
    tools: { work: tool(definition as never) },
    async *run(turn) {
      yield 'calling ';
      const result = await turn.callTool('work', {} as never);
      yield JSON.stringify(result) ?? 'nothing';
    },
  });
const doing = (body: (turn: Turn) => unknown): Application =>
  defineApp({
    async *run(turn) {
      yield 'begun ';
      body(turn);
      await new Promise(setImmediate);
      yield 'done';
    },
  });

/** Apps by the place at which the value enters a run. */
export const appPlaces: Readonly<Record<string, Application>> = {
  'run-throw': run(toss),
  'run-reject': run(reject),
  'run-return': run(value),
  'run-late-return': run(async () => value()),
  'stop-reason': run(() => ({ text: 'x', stopReason: value() })),
  'result-usage': run(() => ({ text: 'x', usage: value() })),
  'result-text': run(() => ({ text: value() })),
  'item-yield': defineApp({
    async *run() {
      yield 'a';
      yield value();
    },
  }),
  'item-field': defineApp({
    async *run() {
      yield { type: 'data', id: 'd', name: 'n', value: value() } as never;
      yield { type: 'tool_use', name: 'n', input: value() } as never;
      yield { type: value() } as never;
    },
  }),
  'generator-throw': defineApp({
    async *run() {
      yield 'a';
      toss();
    },
  }),
  'generator-return': defineApp({
    async *run() {
      yield 'a';
      return value();
    },
  }),
  'generator-clean-up': defineApp({
    async *run() {
      try {
        yield 'a';
        throw new Error('left');
      } finally {
        toss();
      }
    },
  }),
  'odd-iterable': run(() => ({ [Symbol.asyncIterator]: value })),
  'odd-next': run(() => ({ [Symbol.asyncIterator]: once })),
  'tool-result': calling({ handler: value }),
  'tool-throw': calling({ handler: toss }),
  'tool-reject': calling({ handler: reject }),
  'tool-progress': calling({
    handler: async (_: unknown, { progress }: any) => {
      progress(value(), value(), value());
      await new Promise(setImmediate);
      return 'worked';
    },
  }),
  'tool-schema': calling({ schema: schemaOf(toss), handler: () => 1 }),
  'tool-confirm-throw': calling({ confirm: toss, handler: () => 1 }),
  'tool-confirm-message': calling({ confirm: true, confirmMessage: toss, handler: () => 1 }),
  'tool-error-result': calling({ handler: () => ({ content: [value()], isError: true }) }),
  'turn-emit': doing((turn) => turn.emit('custom', value() as never)),
  'turn-publish': doing((turn) => turn.publish('room' as never, value() as never)),
  'turn-data': doing((turn) => turn.data('n', value())),
  'turn-annotate': doing((turn) => turn.annotate(value())),
  'turn-usage': doing((turn) => turn.usage(value())),
  'turn-ask': doing((turn) => void turn.ask({ name: 'q', payload: value(), schema: value() })),
  'turn-ask-odd': doing((turn) => void turn.ask(value())),
  'turn-confirm': doing((turn) => void turn.confirm({ name: 'q', input: value() })),
  'turn-call-tool': doing((turn) => void turn.callTool(value(), value())),
};
