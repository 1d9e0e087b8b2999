import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { cut } from '../../../shared/cut.js';
import type { Message } from '../../../shared/messages.js';
import { givenItems } from '../../../shared/responses/items.js';
import { ResponseStream } from '../../../shared/responses/stream.js';
import type { ResponseItem, ResponseWriterOptions } from '../../../shared/responses/types.js';
import type { Person } from '../../auth/types.js';
import { idOf } from '../../ids.js';
import type { PluginRequest } from '../../transports/http/plugin-route.js';
import { fieldError, orNull } from '../conversation/errors.js';
import { ClientRetries } from '../conversation/retries.js';
import { Router } from '../conversation/routing.js';
import { pagesOf, stateOf } from '../conversation/state.js';
import type { UserNotes } from '../conversation/user-notes.js';
import { notServed } from '../openai/errors.js';
import type { Models } from '../openai/models.js';
import { readBody } from '../openai/problem.js';
import type { PluginContext, PluginSession } from '../plugin.js';
import { type Finder, notFound } from './finding.js';
import { toMessages } from './input.js';
import { itemPage } from './pages.js';
import { conversationBegan, digest, newConversationId } from './places.js';
import { type InputItem, itemsSchema } from './request-schema.js';

const createSchema = z.looseObject({
  items: itemsSchema.nullish(),
  metadata: z.record(z.string(), z.unknown()).nullish(),
  model: z.string().min(1).nullish(),
});
const addSchema = z.looseObject({ items: itemsSchema.min(1) });
const updateSchema = z.looseObject({ metadata: z.record(z.string(), z.unknown()) });

/** Pages of messages in the list of a conversation at most, 100 messages each. */
const PAGES = 100;

/** The fields of a created conversation without messages. Its session begins only with the first message. */
export interface NewConversation {
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** Options of the routes of conversations. */
export interface ConversationRoutesOptions extends ResponseWriterOptions {
  readonly path: string;
  readonly models: Models;
  readonly finder: Finder;
  readonly created: UserNotes<NewConversation>;
}

/** The routes of conversations. Each conversation is a session of its caller, under its own name. */
export class ConversationRoutes {
  readonly #context: PluginContext;
  readonly #options: ConversationRoutesOptions;
  /** The names of items that were added. */
  readonly #added: ClientRetries<string, string>;
  readonly #router: Router;

  constructor(context: PluginContext, options: ConversationRoutesOptions) {
    this.#context = context;
    this.#added = new ClientRetries(context.peers, (name: string) => name);
    this.#options = options;
    this.#router = new Router(options.path, {
      POST: async ({ call, person }) => this.#create(await call.body(), person),
      'GET {id}': ({ person }, id) => this.#object(id, person),
      'POST {id}': async ({ call, person }, id) => this.#update(await call.body(), id, person),
      'DELETE {id}': async ({ person }, id) => {
        const taken = await options.created.take(person, id);
        if (!taken) await (await this.#known(id, person)).delete();
        return { id, object: 'conversation.deleted', deleted: true };
      },
      'GET {id}/items': async ({ person, query }, id) => itemPage(await this.#itemsIn(id, person), query),
      'POST {id}/items': ({ call, person }, id) => this.#add(call, id, person),
      'GET {id}/items/{item}': async ({ person }, id, itemId) =>
        (await this.#itemsIn(id, person)).find((found) => found.id === itemId) ?? noItem(itemId!),
      'DELETE {id}/items/{item}': async ({ person }, id, itemId) => {
        await this.#remove(itemId!, id, person);
        return this.#object(id, person);
      },
    });
  }

  /** Serves one request. @throws GatewayError */
  async serve(call: PluginRequest): Promise<void> {
    await this.#router.serve(call, notServed);
  }

  async #create(given: unknown, person: Person): Promise<object> {
    const { items, metadata, model } = readBody(createSchema, given);
    const id = newConversationId();
    await this.#begin(id, person, { items: items ?? [], metadata: metadata ?? {}, model });
    return this.#object(id, person);
  }

  /** @param given Without messages in `items`, the conversation begins with its first response. */
  async #begin(
    id: string,
    person: Person,
    given: NewConversation & { items: readonly InputItem[]; model?: string | null | undefined },
  ): Promise<void> {
    const { items, metadata, model } = given;
    const byDefault = this.#context.apps().find(({ isDefault }) => isDefault)!.name;
    const app = await this.#options.models.appOf(model ?? byDefault, person);
    const { finder, created } = this.#options;
    const messages = await toMessages(items, (named, path) => finder.item(named, path, person));
    if (messages.length === 0) return created.put(person, id, { metadata });
    const noted = Object.keys(metadata).length > 0 && { metadata };
    await this.#context.session(`${app}:${id}`, person).import(messages, { ...noted });
  }

  /** Adds items, which begin no response. The client's own second try adds nothing. */
  async #add(call: PluginRequest, id: string, person: Person): Promise<object> {
    const body = await call.body();
    const { items } = readBody(addSchema, body);
    const { created, finder } = this.#options;
    const isNew = await created.take(person, id);
    if (isNew) {
      try {
        await this.#begin(id, person, { ...isNew, items });
      } catch (error) {
        await created.put(person, id, isNew);
        throw error;
      }
      return addedItems(await this.#itemsIn(id, person));
    }
    const session = await this.#known(id, person);
    const messages = await toMessages(items, (named, path) => finder.item(named, path, person));
    if (messages.length === 0) return addedItems([]);
    const { headers } = call.request;
    const { 'idempotency-key': key = randomUUID() } = headers;
    const name = await this.#added.once(
      { headers, person, body: [id, body] },
      async () => digest(String(key)),
      async (noted) => noted,
    );
    const given = messages.map((message, at) => ({ id: idOf('item', name, at), ...message }));
    const { messages: added } = await session.append(given);
    return addedItems(added.flatMap((message) => this.#itemsOf(session.id, message, undefined)));
  }

  /** Takes an item back. Those of one answer are one message. */
  async #remove(itemId: string, id: string, person: Person): Promise<void> {
    const all = await this.#said(id, person);
    const found = all.find(({ items }) => items.some((item) => item.id === itemId)) ?? noItem(itemId);
    if (found.items.length > 1) {
      const problem = `is one of ${found.items.length} items of one message, which cannot be deleted one by one`;
      throw fieldError('item_id', problem, 'unsupported_value');
    }
    await (await this.#known(id, person)).retract(found.message.id);
  }

  async #itemsIn(id: string, person: Person): Promise<ResponseItem[]> {
    return (await this.#said(id, person)).flatMap(({ items }) => items);
  }

  async #update(given: unknown, id: string, person: Person): Promise<object> {
    const { metadata } = readBody(updateSchema, given);
    const { created } = this.#options;
    const isNew = await created.get(person, id);
    if (isNew) await created.put(person, id, { ...isNew, metadata });
    else await (await this.#known(id, person)).update({ metadata });
    return this.#object(id, person);
  }

  async #object(id: string, person: Person): Promise<object> {
    const isNew = await this.#options.created.get(person, id);
    const state = isNew ? null : await stateOf(await this.#known(id, person));
    const createdAt = conversationBegan(id) ?? state?.messages[0]?.createdAt ?? 0;
    const { metadata = {} } = isNew ?? state ?? {};
    return { id, object: 'conversation', created_at: Math.floor(createdAt / 1000), metadata };
  }

  /** The session of a conversation, in any app. @throws GatewayError if the caller has no such conversation */
  async #known(id: string, person: Person): Promise<PluginSession> {
    for (const { name } of this.#context.apps()) {
      const found = await orNull(async () => {
        const session = this.#context.session(`${name}:${id}`, person);
        await session.status();
        return session;
      });
      if (found) return found;
    }
    throw notFound('conversation_id', `There is no conversation ${JSON.stringify(cut(id, 128))}`);
  }

  /** The messages of a conversation, each with its items. */
  async #said(
    id: string,
    person: Person,
  ): Promise<readonly { readonly message: Message; readonly items: readonly ResponseItem[] }[]> {
    if (await this.#options.created.get(person, id)) return [];
    const session = await this.#known(id, person);
    const messages: Message[] = [];
    for await (const page of pagesOf(session, { pages: PAGES })) messages.unshift(...page.messages);
    return messages.map((message, at) => ({
      message,
      items: this.#itemsOf(session.id, message, messages[at - 1]),
    }));
  }

  #itemsOf(sessionId: string, message: Message, question: Message | undefined): ResponseItem[] {
    const { runId } = message;
    if (message.role !== 'assistant' || runId === undefined)
      return givenItems(message, { sessionId, runId: runId ?? '' });
    const stream = new ResponseStream({ sessionId, runId, index: 0 }, this.#options);
    stream.recall(message, question);
    return [...stream.response.output];
  }
}

const addedItems = (items: readonly ResponseItem[]): object =>
  itemPage(items, new URLSearchParams({ order: 'asc', limit: '100' }));

/** @throws GatewayError always: for an item that a conversation does not have */
function noItem(id: string): never {
  throw notFound('item_id', `There is no item ${JSON.stringify(cut(id, 256))}`);
}
