// A stand-in for the agent's program, which is a native binary: it speaks as much of that program's stdio protocol as the SDK needs, and does what it is
// told. The SDK itself is the real one. What it knows of its sessions is in its folder.
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';

const FILE = 'sessions.json';
const sessions = existsSync(FILE) ? JSON.parse(readFileSync(FILE, 'utf8')) : {};
const mode = process.env.MODE ?? '';
const args = process.argv.slice(2);
appendFileSync('started.txt', `${process.pid}\n`);
appendFileSync('args.txt', `${JSON.stringify(args)}\n`);
process.on('SIGTERM', () => mode !== 'stubborn' && process.exit(0));
if (mode === 'stubborn') setInterval(() => {}, 1_000);
if (mode === 'silent') await sleep(600_000);

const write = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);
const resume = args.find((arg) => arg.startsWith('--resume='))?.slice('--resume='.length);
const name = `s${Object.keys(sessions).length + 1}`;
const session_id =
  args.find((arg) => arg.startsWith('--session-id='))?.slice('--session-id='.length) ?? randomUUID();
const base = { session_id, uuid: randomUUID() };
if (resume !== undefined && (!sessions[resume] || mode === 'forgetful')) {
  process.stderr.write(`No conversation found with session ID: ${resume}`);
  process.exit(1);
}
const isFork = args.includes('--fork-session');
if (sessions[session_id] || (resume !== undefined && !isFork)) {
  process.stderr.write(`Session ID ${session_id} is already in use`);
  process.exit(1);
}
const told = [...(sessions[resume]?.told ?? [])];
const kept = mode === 'zero' ? 0 : (sessions[resume]?.turns ?? 0);
let turns = kept;
const keep = () => {
  sessions[session_id] = { name, told, turns };
  writeFileSync(FILE, JSON.stringify(sessions));
};

const piece = (delta) =>
  write({
    type: 'stream_event',
    event: { type: 'content_block_delta', index: 0, delta },
    parent_tool_use_id: null,
    ...base,
  });
/** A message of the model: its pieces, and the whole. */
function say(text, thinking) {
  const id = randomUUID();
  write({
    type: 'stream_event',
    event: { type: 'message_start', message: { id } },
    parent_tool_use_id: null,
    ...base,
  });
  if (thinking) piece({ type: 'thinking_delta', thinking });
  if (text) piece({ type: 'text_delta', text });
  const content = [
    ...(thinking ? [{ type: 'thinking', thinking }] : []),
    ...(text ? [{ type: 'text', text }] : []),
  ];
  write({
    type: 'assistant',
    message: { id, role: 'assistant', content },
    parent_tool_use_id: null,
    ...base,
  });
}
const call = (id, name, input, parent = null) =>
  write({
    type: 'assistant',
    message: {
      id: randomUUID(),
      role: 'assistant',
      content: [{ type: 'tool_use', id, name, input }],
    },
    parent_tool_use_id: parent,
    ...base,
  });
const result = (id, content, is_error = false) =>
  write({
    type: 'user',
    message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content, is_error }] },
    parent_tool_use_id: null,
    ...base,
  });

const answers = new Map();
const permission = (tool_name, input, tool_use_id) =>
  new Promise((resolve) => {
    const request_id = randomUUID();
    answers.set(request_id, resolve);
    write({
      type: 'control_request',
      request_id,
      request: { subtype: 'can_use_tool', tool_name, input, tool_use_id, title: 'Erases a file' },
    });
  });

/** A program of its own, which does not end by itself. */
function beginOther() {
  const { pid } = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1_000)'], { stdio: 'ignore' });
  appendFileSync('started.txt', `${pid}\n`);
}

let interrupt = () => {};
const ACTS = {
  async tell() {
    say(`${name} ${JSON.stringify(told)}`);
  },
  async env() {
    say(JSON.stringify({ env: process.env, cwd: process.cwd() }));
  },
  async work() {
    say('I look. ', 'Hm.');
    call('c1', 'Read', { path: 'a' });
    result('c1', [{ type: 'text', text: 'seen' }]);
    result('c1', 'again');
    call('c2', 'Grep', { of: 'sub-agent' }, 'c1');
    const content = [{ type: 'text', text: 'Of a sub-agent' }];
    write({ type: 'assistant', message: { id: 'sub', content }, parent_tool_use_id: 'c1', ...base });
    say('Done.');
  },
  async erase() {
    const id = `erase-${told.length}`;
    call(id, 'Delete', { path: 'a' });
    const { behavior, updatedInput, message } = await permission('Delete', { path: 'a' }, id);
    if (behavior === 'allow') appendFileSync('erased.txt', `${updatedInput.path}\n`);
    result(id, behavior === 'allow' ? `erased ${updatedInput.path}` : message, behavior !== 'allow');
    say(`It was ${behavior}.`);
  },
  async wait() {
    say('Well, ');
    await new Promise((resolve) => {
      interrupt = resolve;
    });
    appendFileSync('interrupted.txt', 'x');
    return { subtype: 'error_during_execution', is_error: true, errors: ['interrupted'] };
  },
  async deaf() {
    beginOther();
    say('Well, ');
    await new Promise(() => setInterval(() => {}, 1_000));
  },
  async die() {
    piece({ type: 'text_delta', text: 'Half' });
    beginOther();
    process.stderr.write('hunter2 is why');
    await sleep(50);
    process.exit(7);
  },
  async dieonce() {
    if (!existsSync('died.txt')) {
      writeFileSync('died.txt', '');
      piece({ type: 'text_delta', text: 'Half of a wro' });
      await sleep(50);
      process.exit(7);
    }
    say('A whole one.');
  },
  async garbage() {
    const strange = [
      ...[
        7,
        [1],
        {},
        { type: 'assistant' },
        { type: 'assistant', message: { content: [7, { type: 'hologram' }] } },
      ],
      ...[{ type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: 'none' }] } }],
      ...[
        { type: 'stream_event', event: 7 },
        { type: 'stream_event', event: { type: 'content_block_delta' } },
      ],
      { type: 'system', subtype: 'init', session_id: 7 },
    ];
    for (const message of strange) write(message);
    process.stdout.write('no JSON\n');
    say('Fine.');
  },
  async nothing() {
    say('Well, ');
    process.stdout.write('null\n');
    await sleep(600_000);
  },
  async slow() {
    say('Well, ');
    await sleep(2_500);
    say('done.');
  },
  async endless() {
    say('Well, ');
    for (;;) await new Promise((resolve) => process.stdout.write('x'.repeat(65_536), resolve));
  },
  async flood() {
    for (let at = 0; at < 3_000; at += 1) piece({ type: 'text_delta', text: 'x' });
  },
  async refuse() {
    write({
      type: 'assistant',
      error: 'authentication_failed',
      message: { id: 'm0', role: 'assistant', content: [{ type: 'text', text: 'API Error: hunter2' }] },
      parent_tool_use_id: null,
      ...base,
    });
    return { is_error: true, result: 'API Error: hunter2' };
  },
  async turns() {
    say('So far.');
    return { subtype: 'error_max_turns', is_error: true, errors: [] };
  },
  async whole() {
    write({
      type: 'assistant',
      message: { id: 'm9', role: 'assistant', content: [{ type: 'text', text: 'At once.' }] },
      parent_tool_use_id: null,
      ...base,
    });
  },
};

async function answer(content) {
  const texts = content.map((block) => block.text ?? `<${block.type}>`);
  told.push(...texts);
  keep();
  write({ type: 'system', subtype: 'init', tools: [], ...base });
  const end = (await ACTS[texts.at(-1)]?.()) ?? {};
  turns += 1;
  keep();
  write({
    ...{
      type: 'result',
      subtype: 'success',
      is_error: false,
      result: '',
      stop_reason: 'end_turn',
      num_turns: 1,
    },
    total_cost_usd: 0.5 * turns,
    usage: { input_tokens: 1, output_tokens: 4 },
    modelUsage: {
      'claude-tiny': {
        ...{ inputTokens: 1 * turns, outputTokens: 4 * turns, thinkingTokens: turns },
        ...{ cacheReadInputTokens: 2 * turns, cacheCreationInputTokens: 3 * turns, costUSD: 0.5 * turns },
      },
    },
    ...base,
    ...end,
  });
}

let busy = Promise.resolve();
createInterface({ input: process.stdin })
  .on('line', (line) => {
    const { type, message, request_id, request, response } = JSON.parse(line);
    const done = () =>
      write({ type: 'control_response', response: { subtype: 'success', request_id, response: {} } });
    if (type === 'user') busy = busy.then(() => answer(message.content));
    else if (type === 'control_response') answers.get(response.request_id)?.(response.response);
    else if (type === 'control_request') {
      if (request.subtype === 'interrupt') {
        if (mode === 'stubborn') return;
        interrupt();
      }
      done();
    }
  })
  .on('close', () => mode !== 'stubborn' && busy.then(() => process.exit(0)));
