import type { Gateway, SessionHandle } from '../../server/index.js';
import { GatewayError } from '../../shared/errors.js';
import type { OperationName } from '../../shared/operations.js';
import { insist, sendUntilTaken } from '../support/insist.js';
import { until } from '../support/until.js';

type Message = Parameters<SessionHandle['send']>[0];
type SendOptions = Parameters<SessionHandle['send']>[1];

/** Somebody who uses a session, and asks again where the gateway could not tell. */
export class Person {
  /** Runs by the keys of what was acknowledged. */
  readonly acknowledged = new Map<string, string>();
  readonly #gateway: Gateway;
  readonly #user: { readonly id: string };
  #keys = 0;

  constructor(gateway: Gateway, id: string) {
    this.#gateway = gateway;
    this.#user = { id };
  }

  get session(): SessionHandle {
    return this.#gateway.session('main', { user: this.#user });
  }

  /** Resolves once the message is taken. */
  async begin(message: Message, options: SendOptions = {}) {
    const idempotencyKey = `${this.#user.id}-${++this.#keys}`;
    const run = await sendUntilTaken(this.session, message, { ...options, idempotencyKey });
    this.acknowledged.set(idempotencyKey, (await run.accepted).runId);
    return run;
  }

  async send(message: Message, options: SendOptions = {}) {
    return (await this.begin(message, options)).result;
  }

  /** Another call may have done the same, or ended what this one is of. */
  async call(operation: OperationName, params: object = {}): Promise<any> {
    const done = () =>
      (this.#gateway as any).execute(operation, { sessionId: 'main', ...params }, { user: this.#user });
    return insist(done);
  }

  /** The id of the first message of somebody in the conversation. */
  async first(role: 'user' | 'assistant'): Promise<string> {
    const { messages } = await insist(() => this.session.history({ limit: 100 }));
    const found = messages.find((message) => message.role === role);
    // Somebody else may have begun the conversation anew.
    if (!found) throw new GatewayError({ code: 'MESSAGE_NOT_FOUND' });
    return found.id;
  }

  async answer(approved: boolean): Promise<void> {
    // Somebody else may have ended the run, or be in control.
    const isThere = () => insist(() => this.call('status')).then(({ status }) => status !== 'running');
    await until(isThere);
    const { pending } = await this.state();
    await this.call('tool-response', { callId: pending[0]?.callId ?? 'gone', approved });
  }

  async state() {
    for (;;)
      for await (const event of this.session.events({ from: 'snapshot' }))
        if (event.type === 'snapshot') return event.state;
  }
}

/** What people do. Each leaves the session idle, or gone. `wait` goes on until it is told to stop; `ask` asks. */
export const FLOWS: Readonly<Record<string, (ann: Person, ben: Person) => Promise<unknown>>> = {
  send: async (ann) => [await ann.send('hello'), await ann.send('again')],
  fail: (ann) => ann.send('fail'),
  queue: (ann, ben) => Promise.all([ann.send('one'), ben.send('two'), ann.send('three')]),
  interrupt: async (ann) => [await ann.begin('wait'), await ann.send('now', { onBusy: 'interrupt' })],
  steer: async (ann) => [await ann.begin('turns'), await ann.send('also', { onBusy: 'steer' })],
  abort: async (ann) => [await ann.begin('wait'), await ann.call('abort')],
  edit: async (ann) => ann.send('edited', { replaces: await ann.first('user') }),
  regenerate: (ann) =>
    insist(async () => {
      const run = ann.session.regenerate({ idempotencyKey: 'again' });
      ann.acknowledged.set('again', (await run.accepted).runId);
      return run.result;
    }),
  lane: (ann) => Promise.all([ann.send('beside', { lane: 'new' }), ann.send('turns')]),
  move: async (ann) => ann.call('move', { tip: await ann.first('assistant') }),
  update: (ann) => ann.call('update', { title: 'T', metadata: { a: 1 } }),
  approve: async (ann) => [await ann.begin('ask'), await ann.answer(true)],
  deny: async (ann) => [await ann.begin('ask'), await ann.answer(false)],
  children: (ann) => ann.send('children'),
  detached: (ann) => ann.send('detached'),
  steps: (ann) => ann.send('steps'),
  spend: (ann) => ann.send('spend'),
  control: async (ann, ben) => {
    await ann.begin('wait');
    await ann.call('take-over');
    await ben.begin('is anybody there?');
    await ann.call('hand-back', { answer: true });
  },
  schedule: async (ann) => {
    await ann.call('schedule', { id: 'later', message: 'hi', at: Date.now() + 3_600_000 });
    await ann.call('unschedule', { id: 'later' });
  },
  grant: async (ann) => {
    const { grant } = await ann.call('share', { with: { userId: 'cyd' }, as: 'member' });
    await ann.call('unshare', { grantId: grant.grantId });
  },
  react: async (ann, ben) => {
    const messageId = await ann.first('assistant');
    await ann.call('react', { messageId, value: 'up', comment: 'good' });
    await ben.call('react', { messageId, value: 'down' });
    await ben.call('read');
  },
  fork: (ann) => ann.call('fork', { to: 'copy' }),
  close: async (ann) => [await ann.begin('wait'), await ann.call('close'), await ann.send('anew')],
  delete: async (ann, ben) => [await ann.begin('wait'), await ben.call('read'), await ann.call('delete')],
};
