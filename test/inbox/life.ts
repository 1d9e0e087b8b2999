import { expect } from 'chai';
import fc from 'fast-check';
import { type ClientInbox, clientInbox } from '../../client/inbox/index.js';
import type { Client } from '../../client/index.js';
import { defineApp } from '../../server/index.js';
import type { Store } from '../../server/stores/store.js';
import { connectClient } from '../support/client.js';
import { startGateway } from '../support/gateway.js';
import { following, PEOPLE, type Shown } from './begin.js';
import { Conversation } from './model.js';

const NAMES = ['ann', 'ben'] as const;
const SESSIONS = ['one', 'two', 'three'];

/** What a person does; numbers choose among what there is. */
export interface Deed {
  readonly person: number;
  readonly session: number;
  readonly what:
    | 'send'
    | 'both'
    | 'withdraw'
    | 'read'
    | 'read-there'
    | 'edit'
    | 'regenerate'
    | 'move'
    | 'fork'
    | 'close'
    | 'delete'
    | 'cut';
  readonly choice: number;
}

const natural = fc.nat({ max: 1000 });
const deed = fc.record({
  person: natural,
  session: natural,
  choice: natural,
  what: fc.oneof(
    { weight: 6, arbitrary: fc.constant('send' as const) },
    { weight: 8, arbitrary: fc.constantFrom('read', 'read-there', 'edit', 'regenerate', 'move') },
    { weight: 4, arbitrary: fc.constantFrom('both', 'withdraw', 'fork', 'close', 'delete', 'cut') },
  ),
});
/** A life in some deeds. */
export const lives = fc.array(deed, { minLength: 4, maxLength: 14 }) as fc.Arbitrary<Deed[]>;
export const longLives = fc.array(deed, { minLength: 15, maxLength: 40 }) as fc.Arbitrary<Deed[]>;

const app = defineApp({
  async *run(turn) {
    if (turn.metadata.wait)
      await new Promise<void>((resolve) => turn.signal.addEventListener('abort', () => resolve()));
    yield `heard ${turn.text}`;
  },
});

/** Somebody, on two devices, who follows the inbox on one of them. */
interface Person {
  readonly name: string;
  readonly client: Client;
  readonly devices: readonly ClientInbox[];
  shown: Shown & { stop(): Promise<void> };
}

const chosen = <T>(all: readonly T[], choice: number): T | undefined => all[choice % all.length];

/** Two people live with the same sessions, and what their inboxes say is compared with what they should. */
class Life {
  readonly #conversations = new Map<string, Conversation>();
  readonly #people: readonly Person[];
  #forks = 0;

  constructor(urls: readonly string[]) {
    this.#people = NAMES.map((name, i) => {
      const [client, other] = [0, 1].map((device) =>
        connectClient(urls[(i + device) % urls.length]!, { token: name }),
      );
      const devices = [client!, other!].map(clientInbox);
      return { name, client: client!, devices, shown: following(devices[1]!) };
    });
  }

  async does({ person: who, session, what, choice }: Deed): Promise<void> {
    const person = chosen(this.#people, who)!;
    const other = chosen(this.#people, who + 1)!;
    if (what === 'cut') {
      await person.shown.stop();
      const { rows, totals, place } = person.shown;
      person.shown = following(person.devices[choice % 2]!, place);
      // What is known is kept: a stream that goes on tells of the rest.
      for (const [id, row] of rows) if (!person.shown.rows.has(id)) person.shown.rows.set(id, row);
      if (person.shown.events === 0) person.shown.totals = totals;
      return;
    }
    const id = chosen([...SESSIONS, ...this.#conversations.keys()], session)!;
    const there = this.#conversations.get(id);
    if (!there && what !== 'send' && what !== 'both') return;
    const talk = there ?? new Conversation();
    await this.#acts(talk, id, { person, other, what, choice });
  }

  async #acts(
    talk: Conversation,
    id: string,
    { person, other, what, choice }: { person: Person; other: Person; what: Deed['what']; choice: number },
  ): Promise<void> {
    const session = person.client.session(id);
    const path = talk.path();
    const answered = async (run: ReturnType<typeof session.send>, isNew = true): Promise<void> => {
      const { message: sent } = await run.accepted;
      this.#conversations.set(id, talk);
      if (isNew) talk.say(sent.id, person.name);
      talk.read(person.name);
      const { message, cursor } = await run.result;
      talk.say(message.id, null);
      talk.places.push({ cursor, at: talk.now });
    };
    switch (what) {
      case 'send':
        return answered(session.send('hi'));
      case 'both': {
        const [first, second] = [session.send('hi'), other.client.send(id, 'hello')];
        const sent = await Promise.all([first.accepted, second.accepted]);
        const ends = await Promise.all([first.result, second.result]);
        this.#conversations.set(id, talk);
        // Whoever was accepted last has read what came before that; in which order the log alone tells.
        const state = await session.state();
        const places = new Map(sent.map((it, i) => [it.message.id, [person, other][i]!.name]));
        const order = state.messages.slice(-4).map((it) => it.id);
        const asked = order.filter((it) => places.has(it));
        for (const it of order) talk.say(it, places.get(it) ?? null);
        for (const p of [person, other]) {
          const result = await p.devices[0]!.read(id);
          expect(result.unread).to.equal(0);
          talk.read(p.name);
        }
        expect(asked.length + ends.length).to.equal(4);
        return;
      }
      case 'withdraw': {
        const first = session.send('wait', { metadata: { wait: true } });
        const { message } = await first.accepted;
        talk.say(message.id, person.name);
        talk.read(person.name);
        const waits = other.client.send(id, 'never');
        const { runId } = await waits.accepted;
        talk.read(other.name);
        const shown = await person.devices[0]!.list();
        expect(shown.sessions.find(({ sessionId }) => sessionId === id)?.unread).to.equal(1);
        await person.client.abort(id, { runId });
        await waits.result;
        await first.abort();
        const { message: answer } = await first.result;
        talk.say(answer.id, null);
        return;
      }
      case 'read':
        talk.read(person.name);
        await person.devices[choice % 2]!.read(id);
        return;
      case 'read-there': {
        const place = chosen(talk.places, choice);
        if (!place) return;
        talk.read(person.name, place.at);
        const { unread } = await person.devices[choice % 2]!.read(id, { cursor: place.cursor });
        expect(unread, 'what a read answers').to.equal(talk.unread(person.name));
        return;
      }
      case 'edit': {
        const mine = path.filter((it) => talk.messages.get(it)!.by !== null);
        const edited = chosen(mine, choice);
        if (edited === undefined) return;
        talk.tip = talk.messages.get(edited)!.parent;
        return answered(session.edit(edited, 'better'));
      }
      case 'regenerate': {
        const asked = chosen(
          path.filter((it) => talk.messages.get(it)!.by !== null),
          choice,
        );
        if (asked === undefined) return;
        talk.tip = asked;
        return answered(session.regenerate(asked), false);
      }
      case 'move': {
        const to = chosen([null, ...talk.messages.keys()], choice)!;
        talk.tip = to;
        await session.move(to);
        return;
      }
      case 'fork': {
        const to = `fork-${++this.#forks}`;
        await session.fork(to);
        this.#conversations.set(to, new Conversation(path));
        return;
      }
      default:
        this.#conversations.delete(id);
        await (what === 'close' ? session.close() : session.delete());
    }
  }

  /** Whether each inbox, asked on either device, says what the model does. */
  async agrees(): Promise<void> {
    for (const { name, devices } of this.#people) {
      const expected = [...this.#conversations].map(([id, talk]) => [id, talk.unread(name)] as const);
      const { sessions, unread } = await chosen(devices, expected.length)!.list({ limit: 1000 });
      const said = sessions.map((row) => [row.sessionId, row.unread] as const);
      expect(said.sort(), name).to.deep.equal(expected.sort());
      expect(unread).to.equal(expected.reduce((sum, [, count]) => sum + count, 0));
    }
  }

  /** Whether what streams have shown is in the end what lists say. */
  async settles(): Promise<void> {
    for (const { devices, shown } of this.#people) {
      const { sessions, unread } = await devices[0]!.list({ limit: 1000 });
      const wanted = JSON.stringify([...sessions].sort(byId));
      await shown.until(
        ({ rows, totals }) =>
          JSON.stringify([...rows.values()].sort(byId)) === wanted && totals.unread === unread,
      );
      await shown.stop();
    }
  }
}

const byId = (a: { readonly sessionId: string }, b: { readonly sessionId: string }): number =>
  a.sessionId < b.sessionId ? -1 : 1;

/** Lives a life at gateways on a store. */
export async function live(
  deeds: readonly Deed[],
  stores: readonly Store[],
  scope = 'global',
): Promise<void> {
  const urls: string[] = [];
  for (const store of stores) {
    const { url } = await startGateway({ app, auth: PEOPLE, sessionScope: () => scope, store });
    urls.push(url);
  }
  const life = new Life(urls);
  for (const deed of deeds) {
    await life.does(deed);
    await life.agrees();
  }
  await life.settles();
}
