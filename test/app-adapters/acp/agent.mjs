// An agent of the Agent Client Protocol, by its makers' SDK: it does what it is told. What it knows of its sessions is in its folder.
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { Readable, Writable } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { agent, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';

const FILE = 'sessions.json';
const sessions = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {};
const keep = () => writeFileSync(FILE, JSON.stringify(sessions));
const cancelled = new Map();
const mode = process.argv[2] ?? 'load';
appendFileSync('started.txt', `${process.pid}\n`);
process.on('SIGTERM', () => mode !== 'stubborn' && process.exit(0));
if (mode === 'silent') await sleep(600_000);

const ACTS = {
  async tell({ say, sessionId }) {
    await say(`${sessionId} ${JSON.stringify(sessions[sessionId])}`);
  },
  async env({ say }) {
    await say(JSON.stringify({ env: process.env, cwd: process.cwd() }));
  },
  async work({ update, say }) {
    await update({ sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'Hm.' } });
    await update({
      sessionUpdate: 'plan',
      entries: [{ content: 'Look', priority: 'high', status: 'pending' }],
    });
    await update({
      sessionUpdate: 'tool_call',
      toolCallId: 'c1',
      title: 'Looks',
      kind: 'read',
      status: 'pending',
    });
    await update({
      sessionUpdate: 'tool_call_update',
      toolCallId: 'c1',
      rawInput: { path: 'a' },
      status: 'in_progress',
    });
    const content = [{ type: 'content', content: { type: 'text', text: 'seen' } }];
    await update({ sessionUpdate: 'tool_call_update', toolCallId: 'c1', status: 'completed', content });
    await say('Done.');
    sessions.spent = (sessions.spent ?? 0) + 0.5;
    await update({
      sessionUpdate: 'usage_update',
      used: 1,
      size: 2,
      cost: { amount: sessions.spent, currency: 'USD' },
    });
  },
  async erase({ update, say, client, sessionId }) {
    const toolCall = {
      toolCallId: `erase-${sessions[sessionId].length}`,
      title: 'Erases a file',
      kind: 'delete',
      rawInput: { path: 'a' },
    };
    await update({ sessionUpdate: 'tool_call', status: 'pending', ...toolCall });
    const options = [
      { optionId: 'always', name: 'Always', kind: 'allow_always' },
      { optionId: 'yes', name: 'Yes', kind: 'allow_once' },
      { optionId: 'no', name: 'No', kind: 'reject_once' },
    ];
    const { outcome } = await client.request('session/request_permission', { sessionId, toolCall, options });
    const answer = outcome.optionId ?? outcome.outcome;
    if (answer === 'yes') appendFileSync('erased.txt', 'a\n');
    const status = answer === 'yes' ? 'completed' : 'failed';
    await update({
      sessionUpdate: 'tool_call_update',
      toolCallId: toolCall.toolCallId,
      status,
      rawOutput: { answer },
    });
    await say(`It was ${answer}.`);
  },
  async wait({ say, cancel }) {
    await say('Well, ');
    await cancel;
    appendFileSync('cancelled.txt', 'x');
    return 'cancelled';
  },
  async deaf({ say }) {
    await say('Well, ');
    await new Promise(() => setInterval(() => {}, 1_000));
  },
  async die({ say }) {
    await say('Half');
    process.stderr.write('hunter2 is why');
    await sleep(50);
    process.exit(7);
  },
  async dieonce({ say }) {
    if (!existsSync('died.txt')) {
      writeFileSync('died.txt', '');
      await say('Half of a wro');
      process.exit(7);
    }
    await say('A whole one.');
  },
  async garbage({ say, update }) {
    process.stdout.write('no JSON\n[1]\n7\n{"jsonrpc":"2.0","method":"x/unknown"}\n');
    await update({ sessionUpdate: 'agent_message_chunk', content: { type: 'hologram' } }).catch(() => {});
    await say('Fine.');
  },
  async endless({ say }) {
    await say('Well, ');
    for (;;) await new Promise((resolve) => process.stdout.write('x'.repeat(65_536), resolve));
  },
  async flood({ say }) {
    for (let at = 0; at < 3_000; at += 1) await say('x');
  },
  async late({ say }) {
    await say('Done.');
    setTimeout(() => say('LATE').then(() => writeFileSync('late.txt', 'x')), 30);
  },
  async refuse() {
    throw new Error('hunter2');
  },
};

agent({ name: 'told' })
  .onRequest('initialize', () => ({
    protocolVersion: mode === 'old' ? 0 : PROTOCOL_VERSION,
    agentCapabilities: {
      loadSession: mode !== 'forgetful',
      promptCapabilities: { image: true },
    },
  }))
  .onRequest('session/new', ({ params }) => {
    const sessionId = `s${Object.keys(sessions).length + 1}`;
    if (params.cwd !== process.cwd()) throw new Error('another folder');
    sessions[sessionId] = [];
    keep();
    return { sessionId };
  })
  .onRequest('session/load', async ({ params: { sessionId }, client }) => {
    if (!sessions[sessionId]) throw new Error('forgotten');
    for (const text of sessions[sessionId])
      await client.notify('session/update', {
        sessionId,
        update: { sessionUpdate: 'user_message_chunk', content: { type: 'text', text } },
      });
    return {};
  })
  .onNotification('session/cancel', ({ params }) => cancelled.get(params.sessionId)?.())
  .onRequest('session/prompt', async ({ params: { sessionId, prompt }, client }) => {
    const told = prompt.map((block) => block.text ?? `<${block.type}>`);
    sessions[sessionId].push(...told);
    keep();
    const update = (it) => client.notify('session/update', { sessionId, update: it });
    const say = (text) => update({ sessionUpdate: 'agent_message_chunk', content: { type: 'text', text } });
    const cancel = new Promise((resolve) => cancelled.set(sessionId, resolve));
    const stopReason = (await ACTS[told.at(-1)]?.({ update, say, client, sessionId, cancel })) ?? 'end_turn';
    return { stopReason };
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin)));
