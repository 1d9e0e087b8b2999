import { type Client, createClient } from '../../client/index.js';
import { createGateway, createInProcessTransport, defineApp, type Store } from '../../server/index.js';
import { textOf } from '../../shared/messages.js';
import { FAST } from '../support/gateway.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';

/** What was done on a gateway, as its clients remember it. */
export interface Done {
  /** A place in the middle of a log that was cut, and the events behind it. */
  readonly cursor: string;
  readonly behind: readonly unknown[];
  /** The run of the key `the-key`. */
  readonly runId: string;
  readonly states: Readonly<Record<string, unknown>>;
}

/** A gateway with small logs, an app that answers at once, and one that waits for a person. */
export function gatewayOn(store: Store) {
  const quick = defineApp({
    async *run(turn) {
      yield `You said: ${turn.text}`;
    },
  });
  const asking = defineApp({
    resumable: true,
    async *run(turn) {
      const drawn = await turn.step('draw', () => 42);
      yield `${drawn}: ${String(await turn.ask({ name: 'may' }))}`;
    },
  });
  return createGateway({
    apps: { quick, asking },
    defaultApp: 'quick',
    embedded: true,
    auth: { type: 'token', token: 't'.repeat(40) },
    clientMessages: { import: true },
    store,
    limits: { ...FAST, drainMs: 100, retention: { events: 40, bytes: 1 << 20, ageMs: 1e9 } },
    logger: { warn: () => {}, error: () => {} },
  });
}

type AnyGateway = ReturnType<typeof gatewayOn>;

const ODD = 'odd "😀" ñ';
const SESSIONS = [
  ['ada', 'long'],
  ['ada', 'branched'],
  ['bob', 'long'],
  ['bob', 'asking:one'],
  [ODD, 'again'],
] as const;

const clientOf = (gateway: AnyGateway, id: string): Client =>
  closeLater(createClient({ transport: createInProcessTransport(gateway, { user: { id } }) }), (it) =>
    it.disconnect(),
  );

const statesOf = async (gateway: AnyGateway): Promise<Record<string, unknown>> => {
  const states: Record<string, unknown> = {};
  for (const [user, name] of SESSIONS) {
    const client = clientOf(gateway, user);
    const { sessions } = await client.sessions();
    states[`${user} ${name}`] = [
      await client.session(name).state(),
      sessions,
      await client.session(name).history(),
    ];
  }
  return states;
};

/** Has people use every part of a store. */
export async function use(gateway: AnyGateway): Promise<Done> {
  const [ada, bob, odd] = ['ada', 'bob', ODD].map((id) => clientOf(gateway, id)) as [Client, Client, Client];
  for (let n = 0; n < 30; n++) await ada.send('long', `${n} of ada 😀 \u0000`).result;
  const { runId } = await ada.send('long', 'once', { idempotencyKey: 'the-key' }).result;
  await ada.send('branched', 'a question').result;
  await ada.send('branched', 'another').result;
  const { messages } = await ada.session('branched').state();
  await ada.session('branched').edit(messages[0]!.id, 'changed').result;
  await ada.session('branched').regenerate().result;
  for (let n = 0; n < 15; n++) await ada.send('branched', `more ${n}`).result;
  await ada.session('branched').move({ version: messages[0]!.id });
  await ada.session('long').update({ title: 'A title', metadata: { tag: 'x' } });
  for (let n = 0; n < 3; n++) await bob.send('long', `${n} of bob`).result;
  bob.send('asking:one', 'may I').result.catch(() => {});
  await until(() => gateway.stats().runs.questions === 1);
  await odd.send('again', 'first').result;
  await odd.session('again').close();
  await odd.send('again', 'second').result;
  const at = Date.now() + 86_400_000;
  await gateway.execute('schedule', { sessionId: 'long', message: 'later', at }, { user: { id: 'bob' } });
  const { cursor } = await ada.session('long').state();
  const logged: { readonly cursor?: string | undefined }[] = [];
  for await (const event of ada.events('long', { from: 'earliest' })) {
    if (event.cursor !== undefined) logged.push(event);
    if (event.cursor === cursor) break;
  }
  const place = logged.length - 6;
  return {
    ...{ cursor: logged[place]!.cursor!, behind: logged.slice(place + 1), runId },
    states: await statesOf(gateway),
  };
}

/** What the same clients find on another gateway. */
export async function found(gateway: AnyGateway, { cursor, behind }: Done): Promise<Done> {
  const states = await statesOf(gateway);
  const ada = clientOf(gateway, 'ada');
  const events: unknown[] = [];
  for await (const event of ada.events('long', { from: cursor })) {
    events.push(event);
    if (events.length === behind.length) break;
  }
  const { runId } = await ada.send('long', 'once', { idempotencyKey: 'the-key' }).result;
  return { cursor, behind: events, runId, states };
}

/** The answer that the run gives which waited for a person when it was moved. */
export async function answered(gateway: AnyGateway): Promise<string> {
  const session = clientOf(gateway, 'bob').session('asking:one');
  const { pending } = await session.state();
  await session.respond(pending[0]!.callId, { output: 'yes' });
  for (;;) {
    const { messages, run } = await session.state();
    if (!run) return textOf(messages.at(-1)!);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
