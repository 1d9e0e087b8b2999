import type { AuthConfig } from '../../server/index.js';
import { FAST, startGateway, TOKEN } from '../support/gateway.js';
import { openUnixSocket, openWebSocket, type RawSocket } from '../support/raw-socket.js';
import { socketDirectory } from '../support/socket-directory.js';
import type { RawEvent, RawStream } from '../support/sse-client.js';
import { describedMethods, talkative } from './fixture.js';
import { Traffic } from './traffic.js';

const SHORT = 'a-token-that-is-good-for-a-moment-only';

/** `TOKEN` is anybody, `SHORT` the same for a moment. */
const auth: AuthConfig = {
  type: 'custom',
  cookies: false,
  validate: async (token) => ({
    valid: token === TOKEN || token === SHORT,
    user: { id: 'somebody', roles: ['admin'] },
    ...(token === SHORT && { expiresAt: Date.now() + 1000 }),
  }),
};

const EVERYTHING = 'think data emit publish usage annotate tool pay locate ask';
const isEvent = (type: string) => (event: RawEvent) => event.event === type;
const authorized = (token: string) => ({ authorization: `Bearer ${token}` });

/** A gateway of every kind of method and event, and all that it has said. */
export interface Recorded {
  readonly traffic: Traffic;
  readonly openapi: any;
}

/** Has a gateway do everything it can, through every door. */
export async function record(): Promise<Recorded> {
  const talk = talkative();
  const socketPath = `${socketDirectory()}/g.sock`;
  const { url } = await startGateway({
    app: talk.app,
    methods: describedMethods,
    auth,
    socketPath,
    shareLinks: true,
    limits: { ...FAST, bodyBytes: 100_000 },
  });
  const traffic = new Traffic(url);
  const viewer = await traffic.follow('?sessionId=main');
  await viewer.until(isEvent('heartbeat'));
  const sockets = [traffic.watch(await openWebSocket(url)), traffic.watch(await openUnixSocket(socketPath))];
  for (const socket of sockets) await greet(socket);
  await converse(traffic, viewer);
  await approve(traffic, viewer);
  await schedule(traffic, viewer);
  await push(traffic);
  await share(traffic, viewer);
  await takeOver(traffic, viewer);
  await steer(traffic, viewer, talk);
  await branch(traffic, viewer);
  await fail(traffic, viewer);
  await rewrite(traffic, viewer);
  await recover(traffic);
  await change(traffic, viewer);
  await look(traffic);
  await call(traffic);
  await read(traffic);
  await refuse(traffic);
  for (const socket of sockets) await speak(socket);
  await expire(traffic, url);
  await traffic.ask('/close', { sessionId: 'main' });
  await viewer.until(isEvent('session_closed'));
  for (const socket of sockets) await socket.event('session_closed');
  return { traffic, openapi: await traffic.ask('/openapi.json') };
}

async function greet(socket: RawSocket): Promise<void> {
  socket.say({
    type: 'connect',
    protocol: { min: 1, max: 1 },
    token: TOKEN,
    subscribe: [{ sessionId: 'main' }, { sessionId: 'lost', cursor: 'nonsense' }],
    metadata: { from: 'test' },
  });
  await socket.event('connected');
}

/** A run with everything in it; the person answers what it asks. */
async function converse(traffic: Traffic, viewer: RawStream): Promise<void> {
  const sending = traffic.ask(
    '/send',
    { sessionId: 'main', message: EVERYTHING, metadata: { a: 1 } },
    { accept: '*/*', 'idempotency-key': 'k1' },
  );
  const { data: payment } = await viewer.until(isEvent('tool_confirmation_required'));
  await traffic.ask('/tool-response', {
    sessionId: 'main',
    callId: payment.callId,
    approved: true,
    reason: 'fine',
  });
  const { data: place } = await viewer.until(isEvent('input_required'));
  await traffic.ask('/tool-response', { sessionId: 'main', callId: place.callId, output: { at: 'home' } });
  const { data: question } = await viewer.until(({ data }) => data.name === 'colour');
  await traffic.ask('/tool-response', { sessionId: 'main', callId: question.callId, output: 'blue' });
  await sending;
  await traffic.ask('/tool-response', { sessionId: 'main', callId: question.callId, output: 'blue' });
  const messages = ['one', { content: [{ type: 'text', text: 'two' }], metadata: { b: 1 } }];
  await traffic.ask('/send', { sessionId: 'main', messages }, { accept: 'application/json' });
  await traffic.ask('/channel', { sessionId: 'main', channel: 'news' });
}

async function steer(
  traffic: Traffic,
  viewer: RawStream,
  { began, held }: ReturnType<typeof talkative>,
): Promise<void> {
  const prefer = { prefer: 'respond-async' };
  await traffic.ask('/send', { sessionId: 'main', message: 'hold' }, prefer);
  await began.passed;
  const steering = await traffic.ask(
    '/send',
    { sessionId: 'main', message: 'more', onBusy: 'steer' },
    prefer,
  );
  const { runId } = await traffic.ask('/send', { sessionId: 'main', message: 'later' }, prefer);
  await traffic.ask('/send', { sessionId: 'main', message: 'now?', onBusy: 'reject' }, prefer);
  const late = await traffic.follow('?sessionId=main&from=snapshot');
  await late.until(isEvent('snapshot'));
  await traffic.ask('/status?sessionId=main');
  await traffic.ask('/abort', { sessionId: 'main', runId, reason: 'not any more' });
  held.open();
  await viewer.until(({ event, data }) => event === 'message_end' && data.runId === steering.runId);
}

/** A child run that waits to be steered, and a run in a lane of its own. */
async function branch(traffic: Traffic, viewer: RawStream): Promise<void> {
  const prefer = { prefer: 'respond-async' };
  await traffic.ask('/send', { sessionId: 'main', message: 'spawn' }, prefer);
  const { data } = await viewer.until(isEvent('run_spawned'));
  const late = await traffic.follow('?sessionId=main&from=snapshot');
  await late.until(isEvent('snapshot'));
  const beside = await traffic.ask('/send', { sessionId: 'main', message: 'aside', lane: 'new' }, prefer);
  await viewer.until(({ event, data: end }) => event === 'message_end' && end.runId === beside.runId);
  await traffic.ask('/steer', { sessionId: 'main', runId: data.runId, message: 'go on' });
  await viewer.until(({ event, data: end }) => event === 'message_end' && end.runId === data.parentRunId);
  await traffic.ask('/history?sessionId=main');
  await traffic.ask('/steer', { sessionId: 'main', runId: data.runId, message: 'too late' });
}

async function fail(traffic: Traffic, viewer: RawStream): Promise<void> {
  await traffic.ask('/send', { sessionId: 'main', message: 'usage fail' });
  await viewer.until(isEvent('run_error'));
}

/** Messages in the place of others, answers beside others, and another version of what was said. */
async function rewrite(traffic: Traffic, viewer: RawStream): Promise<void> {
  const main = { sessionId: 'main' };
  const json = { accept: 'application/json' };
  await traffic.ask('/send', { ...main, message: { id: 'first', content: 'usage' } }, json);
  const edit = { ...main, message: 'usage', replaces: 'first' };
  await traffic.ask('/send', edit, json);
  await traffic.ask('/send', edit);
  await traffic.ask('/send', { ...main, message: 'usage', parent: 'none' });
  await traffic.ask('/regenerate', main, { accept: '*/*' });
  await traffic.ask('/regenerate', main, json);
  await traffic.ask('/regenerate', main, { prefer: 'respond-async' });
  await traffic.ask('/regenerate', { ...main, messageId: 'first' });
  await traffic.ask('/regenerate', { ...main, messageId: 'none' });
  await traffic.ask('/move', { ...main, version: 'first' });
  await viewer.until(({ event, data }) => event === 'history_moved' && data.tip !== 'first');
  await traffic.ask('/fork', { ...main, to: 'fork-of-main' });
  await traffic.ask('/fork', { sessionId: 'fork-of-main', to: 'main' });
}

/** Streams of several sessions, of cursors that prove nothing, by ticket, and changed while they are open. */
async function recover(traffic: Traffic): Promise<void> {
  const lost = await traffic.follow('?sessionId=main', { 'last-event-id': 'nonsense' });
  await lost.until(isEvent('snapshot'));
  const { ticket } = await traffic.ask('/ticket', {});
  const both = await traffic.follow(`?sessionId=main&sessionId=other&from=earliest&token=${ticket}`, {
    authorization: '',
  });
  const { data } = await both.until(isEvent('connected'));
  const { connectionId } = data;
  await traffic.ask('/subscribe', {
    connectionId,
    add: ['third', { sessionId: 'main', from: 'run' }],
    remove: ['other'],
  });
  await both.until(isEvent('subscribed'));
  await traffic.ask('/subscribe', { connectionId: 'conn_of_nobody', sessionId: 'main' });
}

async function call(traffic: Traffic): Promise<void> {
  const calls: [string, unknown?][] = [
    ['ping'],
    ['nothing'],
    ['tasks:create', { title: 'a' }],
    ['tasks:create', { title: 1 }],
    ['tasks:find'],
    ['tasks:find', { text: 'a' }],
    ['tasks:admin:archive', { before: '2026-01-01' }],
    ['flat:create_it', { at: ['a', 1] }],
    ['flat.create.it', { n: 1 }],
    ['grow', { name: 'a', children: [{ name: 'b', children: [] }] }],
    ['tasks:watch', { count: 2 }],
    ['tasks:watch', { count: 3 }],
    ['denied'],
    ['slow'],
    ['unknown'],
  ];
  for (const [method, params] of calls)
    await traffic.ask('/invoke', { method, params, sessionId: 'main' }, { accept: '*/*' });
  const follow = { method: 'tasks:follow' };
  await traffic.ask('/invoke', { ...follow, lastEventId: '2' }, { accept: '*/*' });
  await traffic.ask('/invoke', follow, { accept: '*/*', 'last-event-id': '1' });
}

async function read(traffic: Traffic): Promise<void> {
  for (const path of [
    '/history?sessionId=main',
    '/history?sessionId=main&limit=2',
    '/sessions',
    '/sessions?limit=1',
    '/apps',
    '/status',
    '/methods',
    '/healthz',
    '/readyz',
  ])
    await traffic.ask(path);
}

/** What is wrong, once for each kind. */
async function refuse(traffic: Traffic): Promise<void> {
  const main = { sessionId: 'main' };
  await traffic.ask('/send', { ...main, message: 'other' }, { 'idempotency-key': 'k1' });
  await traffic.ask('/send', { ...main, message: 'x'.repeat(200_000) });
  await traffic.ask('/send', main, { 'content-type': 'text/plain' });
  await traffic.ask('/send', { sessionId: 'ghost:main', message: 'hi' });
  await traffic.ask('/send', { ...main });
  await traffic.ask('/apps', undefined, authorized('nobody'));
  await traffic.ask('/apps', undefined, { origin: 'https://elsewhere.test' });
  await traffic.ask('/history?sessionId=none');
  await traffic.ask('/history?sessionId=main&before=AAAAAAAAAAA.1');
  await traffic.ask('/tool-response', { ...main, callId: 'none', output: 1 });
  await traffic.ask('/abort', { sessionId: 'none' });
  await traffic.ask('/append', { sessionId: 'notes', messages: ['noted'] });
  await traffic.ask('/append', { ...main, messages: [] });
  await traffic.ask('/abort', main);
}

/** A tool that takes an approval of others, once nobody has given one. */
async function approve(traffic: Traffic, viewer: RawStream): Promise<void> {
  const sending = traffic.ask(
    '/send',
    { sessionId: 'main', message: 'sign' },
    { accept: 'application/json' },
  );
  const { data: asked } = await viewer.until(isEvent('tool_confirmation_escalated'));
  await traffic.ask('/tool-response', { sessionId: 'main', callId: asked.callId, approved: true });
  await sending;
}

/** The session is shared with a guest, who is not shown everything, and no more. */
async function share(traffic: Traffic, viewer: RawStream): Promise<void> {
  const hide = ['reasoning', 'toolInput', 'toolOutput', 'usage'];
  const link = { sessionId: 'main', with: { link: true }, as: 'viewer', hide, expiresInMs: 600_000 };
  const { grant, token } = await traffic.ask('/share', link);
  await traffic.ask('/share', { sessionId: 'main', with: { userId: 'ben' }, as: 'member' });
  await traffic.ask('/share', { sessionId: 'main', with: {}, as: 'member' });
  await traffic.ask('/grants?sessionId=main');
  await traffic.ask('/grants?sessionId=none');
  const guest = authorized(token);
  const following = await traffic.follow(`?sessionId=${grant.sessionId}&from=earliest`, guest);
  await following.until(isEvent('hidden'));
  const socket = traffic.watch(await openWebSocket(traffic.url));
  const subscribe = [{ sessionId: grant.sessionId, from: 'earliest' }];
  socket.say({ type: 'connect', protocol: { min: 1, max: 1 }, token, subscribe });
  await socket.event('hidden');
  await following.until(isEvent('schedule_fired'));
  await traffic.ask(`/history?sessionId=${grant.sessionId}`, undefined, guest);
  await traffic.ask('/sessions?shared=true', undefined, guest);
  await traffic.ask('/send', { sessionId: grant.sessionId, message: 'hi' }, guest);
  await traffic.ask('/unshare', { sessionId: 'main', grantId: grant.grantId });
  await following.ended;
  await viewer.until(isEvent('grant_removed'));
}

/** A schedule that is taken back, and one that fires. */
async function schedule(traffic: Traffic, viewer: RawStream): Promise<void> {
  await traffic.ask('/schedule', {
    sessionId: 'main',
    id: 'daily',
    message: 'hi',
    every: '0 9 * * *',
    zone: 'UTC',
  });
  await traffic.ask('/schedules?sessionId=main');
  await traffic.ask('/schedules?sessionId=none');
  await traffic.ask('/schedule', { sessionId: 'main', message: '', every: '0 9 * * *' });
  await traffic.ask('/unschedule', { sessionId: 'main', id: 'daily' });
  await traffic.ask('/schedule', { sessionId: 'main', message: 'hi', at: Date.now() });
  const { data: fired } = await viewer.until(isEvent('schedule_fired'));
  await viewer.until(({ event, data }) => event === 'message_end' && data.runId === fired.runId);
}

/** What waits in which session, followed and read. */
async function look(traffic: Traffic): Promise<void> {
  await traffic.ask('/inbox?limit=1');
  await traffic.ask('/inbox?cursor=nonsense');
  const follower = await traffic.follow('?inbox=true');
  await follower.until(isEvent('inbox'));
  await traffic.ask('/read', { sessionId: 'main' });
  await traffic.ask('/read', { sessionId: 'main', cursor: 'nonsense' });
  await traffic.ask('/read', { sessionId: 'none' });
}

/** A browser is to be told: by a gateway that tells none. */
async function push(traffic: Traffic): Promise<void> {
  await traffic.ask('/push', {});
  await traffic.ask('/push', { remove: 'https://push.example/1' });
  await traffic.ask('/push', { add: { endpoint: '' } });
  await traffic.ask('/notices?sessionId=main');
  await traffic.ask('/notices?sessionId=none');
}

/** A person is asked for, comes, answers, and hands back; somebody reacts. */
async function takeOver(traffic: Traffic, viewer: RawStream): Promise<void> {
  const session = { sessionId: 'main' };
  const connected = viewer.events.find(isEvent('connected'));
  const { connectionId } = connected!.data;
  await traffic.ask('/presence', { ...session, connectionId, state: 'here', data: { name: 'Ann' } });
  await traffic.ask('/presence', { ...session, connectionId, state: 'typing' });
  await traffic.ask('/presence', { ...session, connectionId: 'none' });
  await viewer.until(({ event, data }) => event === 'presence' && data.members[0]?.state === 'typing');
  await traffic.ask('/presence', { ...session, connectionId, state: 'gone' });
  await traffic.ask('/send', { ...session, message: 'person' }, { accept: 'application/json' });
  await traffic.ask('/take-over', { ...session, reason: 'A refund', untilMs: 60_000 });
  await traffic.ask('/take-over', { ...session, untilMs: 0 });
  const json = { accept: 'application/json' };
  const { message } = await traffic.ask(
    '/send',
    { ...session, message: { id: 'said', content: 'I am Ann' } },
    json,
  );
  await traffic.ask('/regenerate', session, json);
  await traffic.ask('/react', { ...session, messageId: 'said', value: 'up', comment: 'Kind' });
  await traffic.ask('/react', { ...session, messageId: message.id, value: 'up' });
  await traffic.ask('/retract', { ...session, messageId: 'said', reason: 'A wrong name' });
  await traffic.ask('/retract', { ...session, messageId: 'none' });
  await traffic.ask('/hand-back', { ...session, note: 'Refunded', answer: true });
  await viewer.until(({ event, data }) => event === 'control_moved' && data.to === null);
}

/** Changes the conversation, and what is kept with it. */
async function change(traffic: Traffic, viewer: RawStream): Promise<void> {
  const { messages } = await traffic.ask('/history?sessionId=main');
  const [first] = messages;
  await traffic.ask('/move', { sessionId: 'main', tip: first.id });
  await traffic.ask('/move', { sessionId: 'main', tip: 'none' });
  await traffic.ask('/move', { sessionId: 'main', tip: messages.at(-1).id });
  await traffic.ask('/fork', { sessionId: 'main', to: 'copy', at: first.id });
  await traffic.ask('/update', { sessionId: 'main', title: 'Talk', metadata: { a: 1 }, archived: true });
  await traffic.ask('/update', { sessionId: 'main', title: null, metadata: null, archived: false });
  await traffic.ask('/update', { sessionId: 'main', title: '' });
  await traffic.ask('/update', { sessionId: 'main', metadata: { a: 'x'.repeat(20_000) } });
  await traffic.ask('/update', { sessionId: 'copy', title: 'Copy' });
  await viewer.until(({ event, data }) => event === 'session_updated' && data.archived === false);
  await traffic.ask('/sessions?archived=false&status=idle&query=c&limit=5');
  await traffic.ask('/sessions?archived=perhaps');
}

/** The same over frames. */
async function speak(socket: RawSocket): Promise<void> {
  await socket.event('connected');
  const params = { sessionId: 'main', state: 'here' };
  socket.say({ type: 'req', id: 'present', method: 'presence', params });
  await socket.event('presence');
  socket.say({ type: 'ping', timestamp: 1 });
  socket.say({ type: 'pong', timestamp: 1 });
  socket.say({ type: 'auth', token: TOKEN });
  socket.say({ type: 'nonsense' });
  socket.say({ type: 'req', id: 'slow', method: 'slow' });
  socket.say({ type: 'cancel', id: 'slow' });
  await socket.until(({ id }) => id === 'slow');
  const requests: [string, unknown?][] = [
    ['send', { sessionId: 'main', message: 'hi' }],
    ['subscribe', { add: ['third'], remove: ['lost'] }],
    ['invoke', { method: 'tasks:watch', params: { count: 1 } }],
    ['channel', { sessionId: 'main', channel: 'news', payload: 1 }],
    ['regenerate', { sessionId: 'main' }],
    ['move', { sessionId: 'main', version: 'first' }],
    ['fork', { sessionId: 'main', to: 'fork-of-main' }],
    ['abort', { sessionId: 'main' }],
    ['update', { sessionId: 'main', title: 'Talk' }],
    ['tool-response', { sessionId: 'main', callId: 'none' }],
    ['close', { sessionId: 'none' }],
    ['ticket'],
    ['history', { sessionId: 'main' }],
    ['inbox', {}],
    ['notices', { sessionId: 'main' }],
    ['read', { sessionId: 'main' }],
    ['subscribe', { add: ['~inbox'] }],
    ['sessions', {}],
    ['apps'],
    ['status'],
    ['run', { sessionId: 'main', runId: 'none' }],
    ['methods'],
    ['openapi'],
    ['ping'],
    ['nothing'],
    ['tasks:create', { title: 'a' }],
    ['tasks:watch', { count: 2 }],
    ['tasks:follow'],
    ['invoke', { method: 'tasks:follow', lastEventId: '2' }],
    ['denied'],
  ];
  socket.say({ type: 'req', id: 'few', method: 'tasks:follow', window: 1 });
  socket.say({ type: 'more', id: 'few', count: 9 });
  await socket.until(({ type, id }) => type === 'res' && id === 'few');
  for (const [at, [method, params]] of requests.entries()) await socket.ask(`${at}`, method, params);
  await socket.until(({ type }) => type === 'error');
}

async function expire(traffic: Traffic, url: string): Promise<void> {
  const stream = await traffic.follow('?sessionId=main', authorized(SHORT));
  const socket = traffic.watch(await openWebSocket(url));
  socket.say({ type: 'connect', protocol: { min: 1, max: 1 }, token: SHORT });
  await stream.until(isEvent('auth_expired'));
  await socket.closed;
}
