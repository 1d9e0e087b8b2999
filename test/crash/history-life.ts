import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { GatewayEvent } from '../../shared/events.js';
import type { SessionState } from '../../shared/fold.js';
import type { mutants } from '../durable/mutants.js';
import { newDatabase } from '../support/durable.js';
import { get, post, TOKEN } from '../support/gateway.js';
import { runListening } from '../support/gateway-process.js';
import type { Program } from '../support/program.js';
import { foldOf } from '../support/session-view.js';
import { openStream } from '../support/sse-client.js';

/** How long a session may take until nothing runs in it. */
const REST_MS = 60_000;
const inBackground = { prefer: 'respond-async' };

/** What a session was before something was asked of it. */
interface Before {
  readonly log: readonly GatewayEvent[];
  readonly state: SessionState;
  /** Ids of the last message that was answered, and of its answer. */
  readonly asked: string;
  readonly answer: string;
}

/** One thing that was asked when the gateway was killed. */
interface Asked extends Before {
  readonly operation: keyof typeof OPERATIONS;
  readonly sessionId: string;
  /** Of this attempt alone: its idempotency key, and the session it begins if it begins one. */
  readonly key: string;
  acknowledged: boolean;
}

/** What each operation asks for, and what of it there is in the end: `null` where there is nothing of it. */
interface Operation {
  readonly path: string;
  body(asked: Asked): object;
  /** Events that it stores together, behind the ends of what ran where it moves. Absent where it leaves the session's log alone. */
  readonly stores?: readonly string[];
  /** What is wrong with what there is of it, if it was done. */
  wrong?(asked: Asked, state: SessionState): string | null;
  /** Ids of the messages of the session that it begins. */
  begins?(asked: Asked): readonly string[];
}

const importedOf = ({ key }: Asked): string[] => Array.from({ length: 200 }, (_, i) => `${key}-${i}`);

/** Operations that change what there is, each in a session of its own. More of them find their place here. */
export const OPERATIONS = {
  edit: {
    path: 'send',
    body: ({ asked, key }) => ({ message: `edit ${key}`, replaces: asked, idempotencyKey: key }),
    stores: ['history_moved', 'message_accepted'],
    wrong: ({ asked }, { messages }) =>
      messages.some(({ id }) => id === asked) ? 'shows what was edited' : null,
  },
  regenerate: {
    path: 'regenerate',
    body: ({ answer, key }) => ({ messageId: answer, idempotencyKey: key }),
    stores: ['history_moved', 'message_accepted'],
    wrong: ({ asked, answer }, { messages }) => {
      const at = messages.findIndex(({ id }) => id === asked);
      return messages[at + 1]?.versions?.includes(answer) ? null : 'has no other answer';
    },
  },
  move: {
    path: 'move',
    body: ({ asked }) => ({ tip: asked }),
    stores: ['history_moved'],
    wrong: ({ asked, answer }, { tip, replies }) =>
      tip === asked && replies?.includes(answer) ? null : `ends at ${tip}`,
  },
  update: {
    path: 'update',
    body: ({ key }) => ({ title: key }),
    stores: ['session_updated'],
    wrong: ({ key }, { title }) => (title === key ? null : `is called ${title}`),
  },
  fork: {
    path: 'fork',
    body: ({ answer, key }) => ({ to: key, at: answer }),
    begins: ({ answer, state }) => {
      const ids = state.messages.map(({ id }) => id);
      return ids.slice(0, ids.indexOf(answer) + 1);
    },
  },
  import: {
    path: 'import',
    body: (asked) => ({
      sessionId: asked.key,
      messages: importedOf(asked).map((id) => ({ id, role: 'user', content: id })),
    }),
    begins: (asked) => importedOf(asked),
  },
} as const satisfies Record<string, Operation>;

/** What was found in a life of a database whose gateways were killed again and again. */
export interface Found {
  readonly violations: string[];
  done: number;
  undone: number;
}

/** Kills gateways on one database in the middle of operations, and looks at what became of these afterwards. */
export class HistoryLife {
  readonly found: Found = { violations: [], done: 0, undone: 0 };
  readonly #file: string;
  readonly #mutant: keyof typeof mutants;
  readonly #random: () => number;
  readonly #path = newDatabase();
  #url = '';

  constructor(file: string, mutant: keyof typeof mutants, random: () => number) {
    this.#file = file;
    this.#mutant = mutant;
    this.#random = random;
  }

  async live(rounds: number): Promise<Found> {
    let asked: readonly Asked[] = [];
    for (let round = 0; round < rounds; round++) {
      const gateway = await this.#start();
      for (const one of asked) await this.#look(one);
      asked = await Promise.all(
        Object.keys(OPERATIONS).map((name) => this.#prepare(name as keyof typeof OPERATIONS, round)),
      );
      const asking = asked.map((one) => this.#ask(one));
      // At any moment, or as soon as one was answered.
      await (round % 4 === 3 ? Promise.race(asking) : delay(this.#random() * 15));
      await gateway.kill('SIGKILL');
      await Promise.all(asking);
    }
    const gateway = await this.#start();
    for (const one of asked) await this.#look(one);
    await gateway.kill('SIGKILL');
    return this.found;
  }

  async #start(): Promise<Program> {
    const { program, url } = await runListening(this.#file, this.#path, this.#mutant);
    this.#url = url;
    return program;
  }

  /** Has a message answered; then in every other round a run stands and another message waits. */
  async #prepare(operation: keyof typeof OPERATIONS, round: number): Promise<Asked> {
    const sessionId = operation;
    const send = (message: string, headers = {}) =>
      post(`${this.#url}/send`, { sessionId, message }, headers);
    const { body } = await send(`message ${round}`);
    // A store that took a thing in parts may refuse what comes behind it.
    const answer: string = body.message?.id ?? '';
    if (round % 2 === 1) {
      await send('stand', inBackground);
      await send('later', inBackground);
    }
    const { log, state } = await this.#read(sessionId);
    const asked = state.messages.find(({ id }) => id === answer)?.parentId;
    if (!asked)
      this.found.violations.push(
        `${operation}: an answer that was told is not there: ${JSON.stringify(body)}`,
      );
    return {
      operation,
      sessionId,
      key: `${operation}-${round}`,
      log,
      state,
      asked: asked ?? answer,
      answer,
      acknowledged: false,
    };
  }

  async #ask(asked: Asked): Promise<void> {
    const { path, body }: Operation = OPERATIONS[asked.operation];
    const { sessionId } = asked;
    try {
      const { status } = await post(`${this.#url}/${path}`, { sessionId, ...body(asked) }, inBackground);
      if (status < 300) asked.acknowledged = true;
      else this.#violates(asked, `was answered with ${status}`);
    } catch (error) {
      // The gateway was killed before it could answer.
      if (!(error instanceof TypeError || error instanceof SyntaxError)) throw error;
    }
  }

  #violates({ key }: Asked, what: string): void {
    this.found.violations.push(`${key} ${what}`);
  }

  /** Looks at what became of it by the time that all runs have ended, then asks again. */
  async #look(asked: Asked): Promise<void> {
    const { operation, sessionId, acknowledged } = asked;
    const { stores, wrong, begins }: Operation = OPERATIONS[operation];
    const moves = stores?.[0] === 'history_moved';
    const now = await this.#rest(sessionId);
    if (!isDeepStrictEqual(now.log.slice(0, asked.log.length), asked.log))
      this.#violates(asked, 'changed the past');
    const added = now.log.slice(asked.log.length);
    const stored: readonly string[] = added.map(({ type }) => type);
    const at = stores ? stored.indexOf(stores[0]!) : -1;
    const keyed = added.flatMap((event) =>
      event.type === 'message_accepted' && event.key === asked.key ? event.runId! : [],
    );
    let isDone = at >= 0 || keyed.length > 0;
    if (stores && isDone) {
      const whole = stored.slice(at, at + stores.length);
      if (!isDeepStrictEqual(whole, stores)) this.#violates(asked, `is there in parts: ${stored}`);
      const open = new Set<string>(asked.state.queue.map(({ runId }) => runId));
      if (asked.state.run) open.add(asked.state.run.runId);
      for (const event of added.slice(0, at)) if (event.type === 'message_end') open.delete(event.runId!);
      if (moves && open.size > 0) this.#violates(asked, `left runs open: ${[...open]}`);
      const problem = wrong?.(asked, now.state);
      if (problem) this.#violates(asked, problem);
    } else if (added.some((event) => event.type === 'message_end' && event.stopReason === 'superseded')) {
      this.#violates(asked, 'has ended runs and done nothing else');
    }
    if (begins) isDone = await this.#lookAtBegun(asked, begins(asked));
    if (acknowledged && !isDone) this.#violates(asked, 'was acknowledged and is not there');
    this.found[isDone ? 'done' : 'undone'] += 1;
    await this.#again(asked, keyed[0]);
    this.#checkEnds(asked, (await this.#rest(sessionId)).log);
  }

  /** A key answers with the run it has begun; one that has begun none begins it now. */
  async #again(asked: Asked, runId: string | undefined): Promise<void> {
    const { path, body, stores }: Operation = OPERATIONS[asked.operation];
    if (!stores?.includes('message_accepted')) return;
    const { sessionId, key } = asked;
    const again = { sessionId, ...body(asked) };
    const repeated = [];
    for (let i = 0; i < 2; i++) repeated.push(await post(`${this.#url}/${path}`, again));
    const ids = repeated.map(({ body }) => body.runId ?? JSON.stringify(body));
    if (new Set([...ids, runId ?? ids[0]]).size > 1) this.#violates(asked, `answers ${ids} and not ${runId}`);
    const { log } = await this.#read(sessionId);
    const begun = log.filter((event) => event.type === 'message_accepted' && event.key === key);
    if (begun.length !== 1) this.#violates(asked, `has begun ${begun.length} runs`);
  }

  /** The session that it begins has all its messages, or none of them and can be begun. */
  async #lookAtBegun(asked: Asked, ids: readonly string[]): Promise<boolean> {
    const { path, body }: Operation = OPERATIONS[asked.operation];
    const there = async (): Promise<readonly string[]> => {
      const { body: page } = await get(`${this.#url}/history?sessionId=${asked.key}&limit=1000`);
      return (page.messages ?? []).map(({ id }: { id: string }) => id);
    };
    const isDone = (await there()).length > 0;
    if (!isDone) await post(`${this.#url}/${path}`, { sessionId: asked.sessionId, ...body(asked) });
    const begun = await there();
    if (!isDeepStrictEqual(begun, ids)) this.#violates(asked, `has ${begun} and not ${ids}`);
    return isDone;
  }

  #checkEnds(asked: Asked, log: readonly GatewayEvent[]): void {
    const ended = log.flatMap((event) => (event.type === 'message_end' ? event.runId : []));
    const begun = log.flatMap((event) => (event.type === 'message_accepted' ? event.runId : []));
    if (new Set(begun).size !== begun.length) this.#violates(asked, 'has accepted a run twice');
    if (!isDeepStrictEqual([...ended].sort(), [...begun].sort()))
      this.#violates(asked, `has ${ended.length} ends of ${begun.length} runs`);
  }

  /** The session once nothing runs in it. */
  async #rest(sessionId: string): Promise<Pick<Before, 'log' | 'state'>> {
    const deadline = performance.now() + REST_MS;
    for (;;) {
      const { body } = await get(`${this.#url}/status?sessionId=${sessionId}`);
      if (body.status === 'idle' && body.queued === 0) return this.#read(sessionId);
      if (performance.now() > deadline) throw new Error(`${sessionId} never comes to rest: ${body.status}`);
      await delay(10);
    }
  }

  /** The whole log, with its fold; what is told of the history is that. */
  async #read(sessionId: string): Promise<Pick<Before, 'log' | 'state'>> {
    const stream = await openStream(
      `${this.#url}/events?sessionId=${sessionId}&from=earliest&token=${TOKEN}`,
    );
    const { head } = (await stream.until(({ event }) => event === 'connected')).data.sessions[sessionId];
    if (head > 0) await stream.until(({ data }) => Number(data.cursor?.split('.')[2]) === head);
    stream.close();
    const log = stream.logged
      .slice(0, head)
      .map(({ event, data }) => ({ type: event, ...data }) as GatewayEvent);
    const state = foldOf(log);
    const { body } = await get(`${this.#url}/history?sessionId=${sessionId}&limit=1000`);
    const ids = (messages: readonly { id: string; versions?: readonly string[] }[]) =>
      messages.map(({ id, versions }) => [id, versions]);
    if (state.run === null && !isDeepStrictEqual(ids(body.messages), ids(state.messages)))
      this.found.violations.push(`the history of ${sessionId} is not what its events fold to`);
    return { log, state };
  }
}
