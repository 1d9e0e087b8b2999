import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import * as acp from '@agentclientprotocol/sdk';
import { expect } from 'chai';
import { type AuthConfig, defineApp } from '../../server/index.js';
import { actor } from '../plugins/actor.js';
import { ByteProxy } from '../plugins/byte-proxy.js';
import { describeDaily } from '../support/daily.js';
import { gate } from '../support/gate.js';
import { get, startGateway, TOKEN } from '../support/gateway.js';
import { blocksOf } from '../support/pages.js';
import { ROOT, runProgram } from '../support/program.js';
import { closeLater } from '../support/resources.js';
import { until } from '../support/until.js';
import { CLI } from './run-cli.js';

interface Editor {
  readonly agent: acp.ClientContext;
  /** What was told, in its order. */
  readonly updates: acp.SessionUpdate[];
  /** What its user was asked. */
  readonly asked: acp.RequestPermissionRequest[];
  readonly program: ChildProcess;
  /** Answers its dialogs. */
  answer: (
    request: acp.RequestPermissionRequest,
    signal: AbortSignal,
  ) => Promise<acp.RequestPermissionResponse>;
  prompt(sessionId: string, text: string): Promise<acp.PromptResponse>;
}

const select = (optionId: string) => async () => ({ outcome: { outcome: 'selected' as const, optionId } });

/** An editor by the protocol's own SDK, with the command as its agent. */
async function openEditor(url: string, ...args: readonly string[]): Promise<Editor> {
  const [command, ...rest] = [...CLI, 'acp', ...args];
  const env = {
    ...process.env,
    AGENT_SESSION_GATEWAY_URL: url,
    AGENT_SESSION_GATEWAY_TOKEN: TOKEN,
  };
  const program = spawn(command!, rest, { cwd: ROOT, env, stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => program.once('exit', resolve));
  closeLater(program, () => {
    program.stdin!.end();
    return ended;
  });
  const updates: acp.SessionUpdate[] = [];
  const asked: acp.RequestPermissionRequest[] = [];
  const app = acp
    .client({ name: 'test' })
    .onNotification('session/update', ({ params }) => void updates.push(params.update))
    .onRequest('session/request_permission', ({ params, signal }) => {
      asked.push(params);
      return editor.answer(params, signal);
    });
  const stream = acp.ndJsonStream(
    Writable.toWeb(program.stdin!) as WritableStream<Uint8Array>,
    Readable.toWeb(program.stdout!) as ReadableStream<Uint8Array>,
  );
  const { agent } = app.connect(stream);
  const editor: Editor = {
    agent,
    updates,
    asked,
    program,
    answer: select('allow'),
    prompt: (sessionId, text) =>
      agent.request('session/prompt', { sessionId, prompt: [{ type: 'text', text }] }),
  };
  const told = await agent.request('initialize', { protocolVersion: 1, clientCapabilities: {} });
  expect(told.protocolVersion).to.equal(1);
  return editor;
}

const begin = async ({ agent }: Editor, cwd = '/work'): Promise<string> =>
  (await agent.request('session/new', { cwd, mcpServers: [] })).sessionId;

const load = ({ agent }: Editor, sessionId: string) =>
  agent.request('session/load', { sessionId, cwd: '/work', mcpServers: [] });

/** What an editor shows: texts that follow each other joined. */
function shown({ updates }: Pick<Editor, 'updates'>): string[] {
  const lines: string[] = [];
  let last = '';
  for (const update of updates) {
    const kind = update.sessionUpdate;
    if ('content' in update && update.content && 'type' in update.content && update.content.type === 'text') {
      if (kind === last) lines[lines.length - 1] += update.content.text;
      else lines.push(`${kind}: ${update.content.text}`);
    } else if (kind === 'tool_call') lines.push(`${kind}: ${update.title}`);
    else if (kind === 'tool_call_update') lines.push(`${kind}: ${update.status}`);
    last = kind;
  }
  return lines;
}

/** Says something, and waits. */
function halting() {
  const [began, held] = [gate(), gate()];
  const app = defineApp({
    async *run({ signal }) {
      yield 'working ';
      began.open();
      await Promise.race([held.passed, new Promise((_, reject) => signal.addEventListener('abort', reject))]);
      yield 'done';
    },
  });
  return { app, began, held };
}

/** The command's user is ben; a token of any other name is that name's. */
const asBen: AuthConfig = {
  type: 'custom',
  cookies: false,
  validate: async (token) => ({ valid: true, user: { id: token === TOKEN ? 'ben' : String(token) } }),
};

describeDaily('agent-session-gateway acp', 3, () => {
  it('keeps the folder of a session beside its other metadata, and answers a member of a session of others', async () => {
    const { gateway, url } = await startGateway({
      auth: asBen,
      app: defineApp({ run: ({ text }) => `heard ${text}` }),
    });
    const editor = await openEditor(url);
    const sessionId = await begin(editor);
    await editor.prompt(sessionId, 'one');
    const own = gateway.session(sessionId, { user: { id: 'ben' } });
    await own.update({ metadata: { project: 'p1', cwd: '/work' } });
    await editor.prompt(sessionId, 'two');
    const moved = await openEditor(url);
    await moved.agent.request('session/load', { sessionId, cwd: '/tmp', mcpServers: [] });
    await moved.prompt(sessionId, 'three');
    const metadataOf = async (token: string) =>
      (await get(`${url}/sessions`, { authorization: `Bearer ${token}` })).body.sessions[0].metadata;
    expect(await metadataOf(TOKEN)).to.deep.equal({ project: 'p1', cwd: '/tmp' });

    const anns = gateway.session('main', { user: { id: 'ann' } });
    await anns.send('hi').result;
    await anns.update({ metadata: { project: 'p2' } });
    const { grant } = await anns.share({ with: { userId: 'ben' }, as: 'member' });
    await load(editor, grant.sessionId);
    expect(await editor.prompt(grant.sessionId, 'four')).to.deep.equal({ stopReason: 'end_turn' });
    expect(await metadataOf('ann')).to.deep.equal({ project: 'p2' });
  });

  it('tells an editor text, thoughts and tools, and lists and loads what was said', async () => {
    const { app, effects } = actor();
    const { url } = await startGateway({ app });
    const editor = await openEditor(url);
    const sessionId = await begin(editor);
    expect(await editor.prompt(sessionId, 'think hello look fail bye')).to.deep.equal({
      stopReason: 'end_turn',
    });
    const answer = [
      'agent_thought_chunk: Let me think. ',
      'agent_message_chunk: hello ',
      'tool_call: look',
      'tool_call_update: completed',
      'agent_message_chunk: [look: {"did":"look","n":1}] ',
      'tool_call: fail',
      'tool_call_update: failed',
      'agent_message_chunk: [fail: "The tool failed"] bye ',
    ];
    expect(shown(editor)).to.deep.equal(answer);
    expect(effects).to.deep.equal(['look']);
    const other = await openEditor(url);
    const { sessions } = await other.agent.request('session/list', { cwd: '/work' });
    expect(sessions.map((session) => session.sessionId)).to.deep.equal([sessionId]);
    expect((await other.agent.request('session/list', { cwd: '/else' })).sessions).to.deep.equal([]);
    await load(other, sessionId);
    expect(shown(other)).to.deep.equal(['user_message_chunk: think hello look fail bye', ...answer]);
    expect(await load(other, 'none').catch(({ code }) => code)).to.equal(-32002);
    await other.agent.request('session/delete', { sessionId });
    expect(await load(other, sessionId).catch(({ code }) => code)).to.equal(-32002);
  });

  it('begins another message where a text was taken back, and loads what is left', async () => {
    const app = defineApp({
      async *run(turn) {
        yield 'Let me see. ';
        const mark = turn.mark();
        yield 'It is Stockh';
        await new Promise(setImmediate);
        turn.retract(mark);
        yield 'It is Oslo.';
      },
    });
    const { url } = await startGateway({ app });
    const editor = await openEditor(url);
    const sessionId = await begin(editor);
    await editor.prompt(sessionId, 'go');
    expect(shown(editor)).to.deep.equal(['agent_message_chunk: Let me see. It is Stockh\n\nIt is Oslo.']);
    const texts: Record<string, string> = {};
    for (const update of editor.updates as any[])
      texts[update.messageId] = (texts[update.messageId] ?? '') + update.content.text;
    expect(Object.values(texts)).to.deep.equal(['Let me see. It is Stockh', '\n\nIt is Oslo.']);
    const other = await openEditor(url);
    await load(other, sessionId);
    expect(shown(other).at(-1)).to.equal('agent_message_chunk: Let me see. It is Oslo.');
  });

  it('asks before a tool is called; who answers elsewhere closes the dialog', async () => {
    const { app, effects } = actor();
    const { url, gateway } = await startGateway({ app });
    const editor = await openEditor(url);
    const sessionId = await begin(editor);
    await editor.prompt(sessionId, 'pay');
    expect(editor.asked[0]!.toolCall).to.include({ title: 'pay', status: 'pending' });
    expect(effects).to.deep.equal(['pay']);
    editor.answer = select('reject');
    await editor.prompt(sessionId, 'pay');
    expect(effects).to.deep.equal(['pay']);
    const [open, closed] = [gate(), gate()];
    editor.answer = (_, signal) => {
      open.open();
      return new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          closed.open();
          resolve({ outcome: { outcome: 'cancelled' } });
        });
      });
    };
    const asking = editor.prompt(sessionId, 'pay');
    await open.passed;
    const { callId } = { callId: editor.asked.at(-1)!.toolCall.toolCallId };
    await gateway.session(sessionId, { user: { id: 'token' } }).respond(callId, { approved: true });
    await closed.passed;
    expect(await asking).to.deep.equal({ stopReason: 'end_turn' });
    expect(effects).to.deep.equal(['pay', 'pay']);
  });

  it('tells an editor of a policy, and its user where they may not decide', async () => {
    const { app, effects } = actor([], { roles: ['finance'], approvals: 2 });
    const { url, gateway } = await startGateway({ app });
    const editor = await openEditor(url);
    editor.answer = select('allow');
    const sessionId = await begin(editor);
    const ended = editor.prompt(sessionId, 'pay');
    const says = (): string => JSON.stringify(editor.updates);
    await until(() => says().includes('You need another role'));
    const { policy } = editor.asked[0]!.toolCall._meta!['agent-session-gateway'] as any;
    expect(policy).to.deep.include({ roles: ['finance'], approvals: 2 });
    const session = gateway.session(sessionId, { user: { id: 'token', roles: ['finance'] } });
    const { toolCallId } = editor.asked[0]!.toolCall;
    await session.respond(toolCallId, { approved: false });
    expect(await ended).to.include({ stopReason: 'end_turn' });
    expect(effects).to.deep.equal([]);
  });

  it('stops what its user cancels, and says why a run failed', async () => {
    const { app, began } = halting();
    const { url } = await startGateway({
      apps: { slow: app, quick: actor().app },
      defaultApp: 'quick',
    } as any);
    const editor = await openEditor(url, '--app', 'slow');
    const sessionId = await begin(editor);
    const working = editor.prompt(sessionId, 'go');
    await began.passed;
    await editor.agent.notify('session/cancel', { sessionId });
    expect(await working).to.deep.equal({ stopReason: 'cancelled' });
    expect(shown(editor)).to.deep.equal(['agent_message_chunk: working ']);
    const quick = await openEditor(url);
    const failing = await quick.prompt(await begin(quick), 'hello break').catch((error) => error);
    expect(failing.message).not.to.include('secret');
    expect(failing).to.be.instanceOf(acp.RequestError);
  });

  it('goes on without its editor, and tells the next one the rest', async () => {
    const { app, began, held } = halting();
    const { url } = await startGateway({ app });
    const first = await openEditor(url);
    const sessionId = await begin(first);
    first.prompt(sessionId, 'go').catch(() => {});
    await began.passed;
    const left = new Promise((resolve) => first.program.once('exit', resolve));
    first.program.stdin!.end();
    expect(await left).to.equal(0);
    const second = await openEditor(url);
    await load(second, sessionId);
    await until(() => shown(second).length === 2);
    held.open();
    await until(() => shown(second)[1] === 'agent_message_chunk: working done');
    expect(shown(second)).to.deep.equal(['user_message_chunk: go', 'agent_message_chunk: working done']);
  });

  it('shows each byte once where the network breaks', async () => {
    const { app } = actor();
    const { url } = await startGateway({ app });
    const proxy = await ByteProxy.start(url);
    const editor = await openEditor(proxy.url);
    const words = 'word '.repeat(40);
    for (let round = 0; round < 5; round++) {
      editor.updates.length = 0;
      proxy.cutAfter = 200 + Math.floor(Math.random() * 4000);
      await editor.prompt(await begin(editor), words.trim());
      expect(shown(editor)).to.deep.equal([`agent_message_chunk: ${words}`]);
    }
    expect(proxy.cuts).to.be.greaterThan(0);
  });

  it('is talked to as its page shows', async () => {
    const { app } = actor();
    const { url } = await startGateway({ app });
    const [{ code } = { code: '' }] = blocksOf('docs/acp.md');
    const [command, ...args] = [...CLI, 'acp', '--url', url, '--token', TOKEN];
    const started = `${JSON.stringify(command)}, ${JSON.stringify(args)}`;
    const here = code.replace(/'npx', \[.*?\]/s, started);
    expect(here).not.to.equal(code);
    const file = join(
      closeLater(mkdtempSync(join(ROOT, '.cache/acp-')), (it) => rmSync(it, { recursive: true })),
      'editor.mts',
    );
    writeFileSync(file, here);
    const program = runProgram(file);
    expect(await program.exited, program.output).to.equal(0);
    expect(program.output).to.match(/Hello[\s\S]*end_turn/);
  });

  it('says what is wrong before an editor asks', async () => {
    const [command, ...rest] = [...CLI, 'acp', '--url', 'http://127.0.0.1:1'];
    const program = spawn(command!, rest, {
      cwd: ROOT,
      env: process.env,
      stdio: 'pipe',
    });
    let said = '';
    program.stderr!.on('data', (text) => {
      said += text;
    });
    expect(await new Promise((resolve) => program.once('exit', resolve))).to.equal(2);
    expect(said).to.match(/doctor/);
  });
});
