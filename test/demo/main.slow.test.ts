import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { ClientFactory, DefaultAgentCardResolver, JsonRpcTransportFactory } from '@a2a-js/sdk/client';
import { Chat } from '@ai-sdk/react';
import Anthropic from '@anthropic-ai/sdk';
import { Client as LangGraph } from '@langchain/langgraph-sdk';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { HttpAgent } from 'ag-ui-client';
import { DefaultChatTransport, type UIMessage } from 'ai';
import { expect } from 'chai';
import OpenAI from 'openai';
import { DOORS } from '../../server/demo/doors.js';
import { says } from '../plugins/a2a/fixtures.js';
import { describeDaily } from '../support/daily.js';
import { type Program, runCommand, runProgram } from '../support/program.js';
import { closeLater } from '../support/resources.js';

const TOKEN = "a-token-with-a-quote'-of-more-than-32-bytes";
const run = promisify(execFile);

/** What a client of each door is told of the weather. */
const ASK: Record<string, (url: string, token: string) => Promise<string>> = {
  'OpenAI chat completions': async (baseURL, apiKey) => {
    const client = new OpenAI({ baseURL, apiKey });
    const messages = [{ role: 'user' as const, content: 'weather in Oslo' }];
    const { choices } = await client.chat.completions.create({ model: 'demo', messages });
    return choices[0]!.message.content!;
  },
  'OpenAI Responses': async (baseURL, apiKey) => {
    const client = new OpenAI({ baseURL, apiKey });
    const { output_text } = await client.responses.create({ model: 'demo', input: 'weather in Oslo' });
    return output_text;
  },
  'AI SDK useChat': async (api, token) => {
    const chat = new Chat<UIMessage>({
      transport: new DefaultChatTransport({ api, headers: { authorization: `Bearer ${token}` } }),
    });
    await chat.sendMessage({ text: 'weather in Oslo' });
    const parts = chat.messages.at(-1)!.parts;
    return parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  },
  'AG-UI, CopilotKit': async (url, token) => {
    const headers = { authorization: `Bearer ${token}` };
    const agent = new HttpAgent({ url: `${url}/agent/demo`, headers });
    agent.addMessage({ id: 'u1', role: 'user', content: 'weather in Oslo' });
    const { newMessages } = await agent.runAgent();
    return newMessages.map(({ content }) => content ?? '').join('');
  },
  'LangGraph useStream': async (apiUrl, token) => {
    const defaultHeaders = { authorization: `Bearer ${token}` };
    const client = new LangGraph({ apiUrl, defaultHeaders });
    const input = { messages: [{ type: 'human', content: 'weather in Oslo' }] };
    const { messages } = (await client.runs.wait(crypto.randomUUID(), 'demo', { input })) as any;
    return messages.map(({ content }: any) => content).join('');
  },
  'Sessions API': async (url, apiKey) => {
    const { sessions } = new Anthropic({ baseURL: new URL(url).origin, apiKey }).beta;
    const { id } = await sessions.create({ agent: 'demo', environment_id: 'e' });
    const stream = await sessions.events.stream(id);
    const content = [{ type: 'text' as const, text: 'weather in Oslo' }];
    await sessions.events.send(id, { events: [{ type: 'user.message', content }] });
    let said = '';
    for await (const event of stream) {
      said += JSON.stringify(event);
      if (event.type === 'session.status_idle') break;
    }
    return said;
  },
  A2A: async (url, token) => {
    const fetchImpl: typeof fetch = (input, init) =>
      fetch(input, { ...init, headers: { ...init?.headers, authorization: `Bearer ${token}` } });
    const factory = new ClientFactory({
      transports: [new JsonRpcTransportFactory({ fetchImpl })],
      cardResolver: new DefaultAgentCardResolver({ fetchImpl }),
    });
    const agent = await factory.createFromUrl(new URL(url).origin);
    let said = '';
    for await (const event of agent.sendMessageStream(says('weather in Oslo'))) said += JSON.stringify(event);
    return said;
  },
  MCP: async (url, token) => {
    const client = closeLater(new Client({ name: 'test', version: '1' }), (it) => it.close());
    const headers = { authorization: `Bearer ${token}` };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    const { tools } = await client.listTools();
    return tools.map(({ name }) => name).join();
  },
};

interface Demo {
  readonly program: Program;
  readonly url: string;
  readonly token: string;
  readonly guest: string;
  readonly curls: readonly string[];
}

async function startMain(env: Record<string, string> = {}): Promise<Demo> {
  const program = runProgram('server/demo/main.ts', { env: { PORT: '0', ...env } });
  const [, url] = await program.prints(/^ {2}URL +(http\S+)\n/m);
  await program.prints(/Ctrl\+C/);
  const [, token] = await program.prints(/^ {2}token +(\S+)/m);
  const [, guest] = await program.prints(/^ {2}guest token +(\S+)/m);
  const curls = program.output.split('\n').filter((line) => line.startsWith('  curl '));
  return { program, url: url!, token: token!, guest: guest!, curls };
}

describeDaily('npm start', 3, () => {
  it('prints URL, token and curl lines that work as they stand', async () => {
    const { program, url, token, curls } = await startMain({ GATEWAY_TOKEN: TOKEN });
    expect(token).to.equal(TOKEN);
    expect(new URL(url).hostname).to.equal('127.0.0.1');
    const [, link] = await program.prints(/^ {2}Open (http\S+)$/m);
    expect(link).to.equal(`${url}/#token=${encodeURIComponent(TOKEN)}`);
    expect(curls.length).to.equal(5);
    const [send, events, invoke, ask, approve] = curls as [string, string, string, string, string];

    const sent = await run('sh', ['-c', send]);
    expect(sent.stdout)
      .to.match(/^event: message_accepted\n/)
      .and.to.contain('event: tool_use');
    expect(sent.stdout.match(/event: message_end/g)).to.have.length(1);

    const replayed = await run('sh', ['-c', `${events} --max-time 1`]).catch(
      (error: { stdout: string }) => error,
    );
    expect(replayed.stdout).to.match(/^event: connected\n/);
    expect(replayed.stdout.replace(/^[\s\S]*?(?=event: message_accepted)/, '')).to.equal(sent.stdout);

    const invoked = await run('sh', ['-c', invoke]);
    expect(JSON.parse(invoked.stdout)).to.include({ id: 1, title: 'Try the gateway' });

    const asking = runCommand('sh', { args: ['-c', ask] });
    const [, callId] = await asking.prints(/tool_confirmation_required\n[\s\S]*?"callId":"([^"]+)"/);
    const approved = await run('sh', ['-c', approve.replace('CALL_ID', callId!)]);
    expect(JSON.parse(approved.stdout)).to.deep.equal({ ok: true });
    expect(await asking.exited).to.equal(0);
    expect(asking.output).to.contain('event: message_end').and.contain('"approved":true');
  });

  it('serves every door that its banner names, to clients as they are', async () => {
    const { program, url, token } = await startMain();
    expect(Object.keys(ASK)).to.have.members(DOORS.map(({ name }) => name));
    for (const { name, path } of DOORS) {
      const [, named] = await program.prints(new RegExp(`^  ${name} +(http\\S+)`, 'm'));
      expect(named).to.equal(`${url}${path}`);
      expect(await ASK[name]!(named!, token), name).to.match(/Let me look|weather/);
    }
  });

  it('makes up tokens of its own, and says how they stay', async () => {
    const [first, other] = await Promise.all([startMain(), startMain()]);
    expect(new Set([first.token, first.guest, other.token, other.guest]).size).to.equal(4);
    expect(first.token.length).to.be.at.least(32);
    const [, token] = await first.program.prints(/GATEWAY_TOKEN=(\S+) npm start/);
    expect(token).to.equal(first.token);
    const second = await startMain({ GATEWAY_TOKEN: token! });
    expect(second.program.output).not.to.contain('GATEWAY_TOKEN=');
    const headers = { authorization: `Bearer ${first.token}` };
    expect((await fetch(`${second.url}/status`, { headers })).status).to.equal(200);
  });

  it('honours HOST and PORT, and says which option is wrong', async () => {
    const { url, program } = await startMain({ HOST: 'localhost' });
    const { port, hostname } = new URL(url);
    expect(hostname).to.equal('localhost');
    const taken = runProgram('server/demo/main.ts', { env: { HOST: 'localhost', PORT: port } });
    expect(await taken.exited).to.equal(1);
    expect(taken.output).to.contain(`Port ${port} on localhost is in use`);
    const wrong = runProgram('server/demo/main.ts', { env: { PORT: 'http' } });
    expect(await wrong.exited).to.equal(1);
    expect(wrong.output).to.equal('PORT must be a number from 0 to 65535\n');
    await program.kill('SIGTERM');
  });

  it('warns of a short GATEWAY_TOKEN on loopback and refuses it on other hosts', async () => {
    const { program } = await startMain({ GATEWAY_TOKEN: 'short' });
    expect(program.output).to.match(/^Warning: GATEWAY_TOKEN.*fewer than 32 bytes/);
    const open = runProgram('server/demo/main.ts', {
      env: { PORT: '0', HOST: '0.0.0.0', GATEWAY_TOKEN: 'short' },
    });
    expect(await open.exited).to.equal(1);
    expect(open.output).to.contain('fewer than 32 bytes');
  });
});
