import { Chat } from '@ai-sdk/react';
import { Client } from '@langchain/langgraph-sdk';
import { StreamController } from '@langchain/langgraph-sdk/stream';
import { HttpAgent } from 'ag-ui-client';
import * as ai from 'ai';
import OpenAI from 'openai';
import type { GatewayPlugin } from '../../../server/index.js';
import { agUiPlugin } from '../../../server/plugins/ag-ui/index.js';
import { chatCompletionsPlugin } from '../../../server/plugins/chat-completions/index.js';
import { langGraphPlugin } from '../../../server/plugins/langgraph/index.js';
import { responsesPlugin } from '../../../server/plugins/responses/index.js';
import { uiMessageStreamPlugin } from '../../../server/plugins/ui-message-stream/index.js';
import { gate } from '../../support/gate.js';
import { closeLater } from '../../support/resources.js';
import { until } from '../../support/until.js';
import { as } from '../../support/users.js';
import { textIn as agTextIn, attempt } from '../ag-ui/fixtures.js';
import { answerIn, tanstack } from '../ag-ui/tanstack-fixtures.js';
import { browserFetch } from '../frame-proxy.js';
import { answers as lcAnswers, textOf as lcText } from '../langgraph/fixtures.js';
import { textIn as uiTextIn } from '../ui-message-stream/fixtures.js';

/** The address that a client is opened with, and the messages that it has already. */
export interface TabInit {
  readonly url: string;
  /** Name of the session. @default 'main' */
  readonly session?: string;
  /** Earlier messages, user and assistant by turns. */
  readonly had?: readonly string[];
  readonly fetch?: typeof fetch;
}

/** A client of a door, unmodified, as a page has it. Each text is that of the last answer. */
export interface Tab {
  /** Says something and reads the answer to its end. Rejects where it is cut off. */
  say(text: string): Promise<string>;
  /** Comes back after a cut, by the way that the door's clients have. */
  comeBack?(): Promise<string>;
  /** Stops the answer. */
  stop?(): Promise<void>;
  /** Has the last message of its user say something else. */
  edit?(text: string): Promise<string>;
  regenerate?(): Promise<string>;
  /** Answers what is asked, and reads on. */
  approve?(approved: boolean): Promise<string>;
}

/** A door, and what of its requests is found again. */
export interface Door {
  readonly name: string;
  plugin(): GatewayPlugin;
  open(init: TabInit): Tab | Promise<Tab>;
  /** Whether the same request again comes to the same run. */
  readonly repeats: boolean;
  /** Behaviours that its clients have ways for. */
  readonly can: readonly (keyof Tab)[];
}

/** Texts in turn as messages, each by its own id. */
const turns = (had: readonly string[]) =>
  had.map((text, at) => ({ id: `had-${at}`, role: at % 2 === 0 ? 'user' : 'assistant', text }) as const);

const completions: Door = {
  name: 'chat completions',
  plugin: () => chatCompletionsPlugin(),
  repeats: false,
  can: [],
  open({ url, session = 'main', had = [], fetch: own = fetch }) {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'alice', maxRetries: 0, fetch: own });
    const messages: any[] = turns(had).map(({ role, text: content }) => ({ role, content }));
    return {
      async say(text) {
        messages.push({ role: 'user', content: text });
        const headers = { 'x-session-id': session };
        const body = { model: 'default', messages, stream: true as const };
        let answer = '';
        let reason: unknown;
        for await (const { choices } of await client.chat.completions.create(body, { headers })) {
          answer += choices[0]?.delta.content ?? '';
          reason ??= choices[0]?.finish_reason ?? undefined;
        }
        if (!reason) throw new Error('the stream ended early');
        messages.push({ role: 'assistant', content: answer });
        return answer;
      },
    };
  },
};

const responses: Door = {
  name: 'Responses',
  plugin: () => responsesPlugin(),
  repeats: true,
  can: ['comeBack', 'stop', 'approve'],
  open({ url, session = 'main', had = [], fetch: own = fetch }) {
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey: 'alice', maxRetries: 0, fetch: own });
    const items: any[] = turns(had).map(({ role, text: content }) => ({ role, content }));
    let id = '';
    const begun = gate();
    let last = -1;
    let text = '';
    let approval = '';
    const read = async (stream: AsyncIterable<any>): Promise<string> => {
      for await (const event of stream) {
        last = event.sequence_number;
        if (event.type === 'response.created') id = event.response.id;
        begun.open();
        if (event.type === 'response.output_text.delta') text += event.delta;
        if (!/^response\.(?:completed|incomplete|failed)$/.test(event.type)) continue;
        approval = event.response.output.find(({ type }: any) => type === 'mcp_approval_request')?.id ?? '';
        if (approval === '') items.push({ role: 'assistant', content: text });
        return text;
      }
      throw new Error('the stream ended early');
    };
    const create = async (input: readonly any[]) => {
      const headers = { 'x-session-id': session, 'Idempotency-Key': crypto.randomUUID() };
      return read(
        await client.responses.create({ model: 'default', input: [...input], stream: true }, { headers }),
      );
    };
    return {
      say(said) {
        text = '';
        items.push({ role: 'user', content: said });
        return create(items);
      },
      comeBack: async () => read(await client.responses.retrieve(id, { stream: true, starting_after: last })),
      async stop() {
        await begun.passed;
        await client.responses.cancel(id);
      },
      approve: (approve) =>
        create([{ type: 'mcp_approval_response', approval_request_id: approval, approve }]),
    };
  },
};

const useChat: Door = {
  name: 'useChat',
  plugin: () => uiMessageStreamPlugin(),
  repeats: true,
  can: ['comeBack', 'stop', 'edit', 'regenerate', 'approve'],
  open({ url, session = 'main', had = [], fetch: own = browserFetch }) {
    const api = `${url}/api/chat`;
    const transport = new ai.DefaultChatTransport({ api, headers: as('alice'), fetch: own });
    const messages = turns(had).map(({ text, ...message }) => ({
      ...message,
      parts: [{ type: 'text' as const, text }],
    }));
    const chat = new Chat<any>({ id: session, transport: transport as any, messages });
    const done = async (work: Promise<unknown>): Promise<string> => {
      await work;
      if (chat.status === 'error') throw chat.error;
      return uiTextIn(chat.messages.at(-1));
    };
    return {
      say: (text) => done(chat.sendMessage({ text })),
      comeBack: () => done(chat.resumeStream()),
      stop: async () => void (await own(`${api}/${session}/stop`, { method: 'POST', headers: as('alice') })),
      edit(text) {
        const { id: messageId } = chat.messages.findLast(({ role }) => role === 'user')!;
        return done(chat.sendMessage({ text, messageId }));
      },
      regenerate: () => done(chat.regenerate()),
      async approve(approved) {
        const { approval } = chat.messages
          .at(-1)!
          .parts.find((part: any) => part.state === 'approval-requested') as any;
        await chat.addToolApprovalResponse({ id: approval.id, approved });
        return done(chat.sendMessage());
      },
    };
  },
};

const agUi: Door = {
  name: 'AG-UI',
  plugin: () => agUiPlugin(),
  repeats: true,
  can: ['comeBack', 'stop', 'edit', 'regenerate', 'approve'],
  open({ url, session = 'main', had = [], fetch: own }) {
    const agent: any = new HttpAgent({
      url: `${url}/ag-ui/agent/default`,
      headers: as('alice'),
      threadId: session,
      initialMessages: turns(had).map(({ text: content, ...message }) => ({ ...message, content })),
      ...(own && { fetch: own }),
    } as any);
    let last: any = {};
    const run = async (parameters: any): Promise<string> => {
      last = parameters;
      const failure = await attempt(agent, parameters);
      if (failure) throw failure;
      const from = agent.messages.findLastIndex(({ role }: any) => role === 'user');
      return agTextIn(agent.messages.slice(from));
    };
    return {
      say(content) {
        agent.addMessage({ id: crypto.randomUUID(), role: 'user', content });
        return run({ runId: crypto.randomUUID() });
      },
      comeBack: () => run(last),
      stop: async () =>
        void (await fetch(`${url}/ag-ui/agent/default/stop/${session}`, {
          method: 'POST',
          headers: { ...as('alice'), 'content-type': 'application/json' },
          body: '{}',
        })),
      edit(content) {
        const at = agent.messages.findLastIndex(({ role }: any) => role === 'user');
        agent.setMessages([...agent.messages.slice(0, at), { ...agent.messages[at], content }]);
        return run({ runId: crypto.randomUUID() });
      },
      regenerate() {
        const at = agent.messages.findLastIndex(({ role }: any) => role === 'user');
        agent.setMessages(agent.messages.slice(0, at + 1));
        return run({ runId: crypto.randomUUID() });
      },
      approve(approved) {
        const resume = agent.pendingInterrupts.map(({ id }: any) => ({
          interruptId: id,
          status: 'resolved',
          payload: { approved },
        }));
        return run({ runId: crypto.randomUUID(), resume });
      },
    };
  },
};

const tanstackAi: Door = {
  name: 'TanStack AI',
  plugin: () => agUiPlugin(),
  repeats: true,
  can: ['stop', 'edit', 'regenerate', 'approve'],
  async open({ url, session: threadId = 'main', had = [], fetch: own }) {
    const initialMessages = turns(had).map(({ text: content, ...message }) => ({
      ...message,
      parts: [{ type: 'text', content }],
    }));
    const base = `${url}/ag-ui`;
    const client = await tanstack({ base, threadId, initialMessages, ...(own && { fetchClient: own }) });
    const done = async (work: unknown): Promise<string> => {
      await work;
      await until(() => client.getStatus() === 'ready' || client.getStatus() === 'error');
      if (client.getStatus() === 'error') throw client.getError();
      return answerIn(client.getMessages());
    };
    return {
      async say(text) {
        await client.sendMessage(text);
        // A busy page sends it behind the answer that it reads.
        const isSaid = ({ role, parts: [part] }: any) => role === 'user' && part.content === text;
        await until(() => client.getStatus() === 'error' || client.getMessages().some(isSaid));
        return done(null);
      },
      async stop() {
        const headers = { ...as('alice'), 'content-type': 'application/json' };
        await fetch(`${base}/agent/default/stop/${threadId}`, { method: 'POST', headers, body: '{}' });
      },
      edit(content) {
        const at = client.getMessages().findLastIndex(({ role }) => role === 'user');
        const { id } = client.getMessages()[at];
        client.setMessagesManually(client.getMessages().slice(0, at));
        return done(client.sendMessage({ content, id }));
      },
      regenerate: () => done(client.reload()),
      async approve(approved) {
        for (const asked of client.getInterrupts()) asked.resolveInterrupt({ approved });
        await until(() => client.getInterrupts().length === 0 && client.getStatus() !== 'ready');
        return done(null);
      },
    };
  },
};

const langGraph: Door = {
  name: 'LangGraph',
  can: ['stop', 'edit', 'regenerate', 'approve'],
  plugin: () => langGraphPlugin(),
  repeats: false,
  open({ url, session = 'main', had = [], fetch: own }) {
    const client = new Client({
      apiUrl: `${url}/langgraph`,
      apiKey: null as never,
      defaultHeaders: as('alice'),
      callerOptions: own ? { fetch: own } : {},
    });
    const controller: any = new StreamController({
      client: client as any,
      assistantId: 'default',
      threadId: session,
      queue: 'server',
      ...(own && { fetch: own }),
    });
    closeLater(controller, () => controller.dispose());
    const before = turns(had).map(({ id, role, text: content }) => ({ id, type: TYPES[role], content }));
    const kindOf = (message: any): string => message.getType?.() ?? message.type;
    /** The answer to what was said last, or to this. */
    const answerIn = ({ messages }: any, said?: string): string => {
      const isIt = (message: any) =>
        kindOf(message) === 'human' && (said === undefined || lcText(message) === said);
      const rest = messages.slice(messages.findLastIndex(isIt) + 1);
      const next = rest.findIndex((message: any) => kindOf(message) === 'human');
      return lcAnswers({ messages: next < 0 ? rest : rest.slice(0, next) });
    };
    /** The end is heard by one stream and the text by another: it is whole where the session has no more. */
    const done = async (work: Promise<unknown>, said?: string): Promise<string> => {
      await work;
      let whole = '';
      await until(async () => {
        const { values, tasks } = await client.threads.getState<any>(session);
        whole = answerIn(values, said);
        const isOver = tasks.every(({ interrupts }) => interrupts.length > 0);
        const shown = controller.rootStore.getSnapshot();
        return isOver && whole !== '' && !shown.isLoading && answerIn(shown, said) === whole;
      });
      return whole;
    };
    const placeBefore = (type: string): string => {
      const { messages } = controller.rootStore.getSnapshot();
      const { id } = messages.findLast((message: any) => message.getType() === type);
      return controller.messageMetadataStore.getSnapshot().get(id).parentCheckpointId;
    };
    return {
      async say(text) {
        await controller.hydrationPromise;
        const messages = [...before.splice(0), { id: crypto.randomUUID(), type: 'human', content: text }];
        // Without it the message would interrupt what another one has asked.
        return done(controller.submit({ messages }, { multitaskStrategy: 'enqueue' }), text);
      },
      async stop() {
        const [run] = await client.runs.list(session, { status: 'running' });
        await client.runs.cancel(session, run!.run_id);
      },
      edit: (content) =>
        done(
          controller.submit({ messages: [{ type: 'human', content }] }, { forkFrom: placeBefore('human') }),
        ),
      regenerate: () => done(controller.submit(null, { forkFrom: placeBefore('ai') })),
      approve(approved) {
        const { interrupt } = controller.rootStore.getSnapshot();
        return done(controller.respond({ approved }, { interruptId: interrupt.id }));
      },
    };
  },
};

const TYPES = { user: 'human', assistant: 'ai' } as const;

/** All doors, each by a client of its own protocol. */
export const DOORS: readonly Door[] = [completions, responses, useChat, agUi, tanstackAi, langGraph];
