import { formatCursor } from '../../../shared/cursor.js';
import type { SearchHit, SearchParams, SearchResult } from '../../../shared/search/contract.js';
import { nextTurn } from '../../async/turn.js';
import type { Reach } from '../../operations/reach.js';
import type { SaidHit, SaidPage, SaidQuery } from '../../stores/said.js';
import type { Store } from '../../stores/store.js';
import { askedWords } from '../../stores/words.js';
import { readConversations } from './conversations.js';
import { formatSearchPlace, parseSearchPlace } from './page-cursor.js';
import { type Passages, SearchQuestion, snippetOf } from './passages.js';
import type { Reachable } from './reached.js';

/** The messages that are ranked together: the newest that have the words, and behind them the next ones. */
const RANKED = { messages: 100, chars: 256 * 1024 };
/** Pages of the store that one call asks for, if they have nothing. */
const PAGES = 50;
/** Characters that are looked through in one turn of the event loop. */
const TURN = 16 * 1024;
/** Time after which a message has lost half of the weight of being new. */
const HALF_MS = 30 * 24 * 3_600_000;
const LIMIT = 20;

interface SearchEnvironment extends Pick<Parameters<typeof readConversations>[0], 'logOf'> {
  readonly store: Pick<Store, 'search' | 'list' | 'record'>;
}

/** A message that has all words. */
interface Ranked extends Passages {
  readonly hit: SaidHit;
}

/** A message that is shown, and as which the caller reaches its session. */
interface ShownHit extends Pick<Ranked, 'hit' | 'places'> {
  readonly reach: Reach;
}

/** Finds what conversations show, as far as a caller may see it. */
export class Search {
  readonly #env: SearchEnvironment;

  constructor(env: SearchEnvironment) {
    this.#env = env;
  }

  /** A page of what was found. @throws GatewayError `INVALID_PARAMS` at `cursor` */
  async page(params: Omit<SearchParams, 'sessionId' | 'app'>, reachable: Reachable): Promise<SearchResult> {
    const { query, from, to, limit = LIMIT, cursor } = params;
    const place = cursor === undefined ? null : parseSearchPlace(cursor);
    const { asOf = Date.now(), shown: begun = 0, before = null } = place ?? {};
    const words = askedWords(query);
    const { within } = reachable;
    if (words.length === 0 || within.length === 0) return { hits: [], cursor: null };
    const { ranked, first, next } = await this.#rank(
      { within, words, from, to, ...(before !== null && { before }) },
      new SearchQuestion(query),
      asOf,
    );
    const shown: ShownHit[] = [];
    let at = begun;
    for (; at < ranked.length && shown.length < limit; at += 1) {
      const { hit, places } = ranked[at]!;
      const reach = await reachable.reach(hit);
      if (reach) shown.push({ hit, places, reach });
    }
    const rest =
      at < ranked.length ? { before: first + 1, shown: at } : next !== null && { before: next, shown: 0 };
    return { hits: await this.#described(shown), cursor: rest ? formatSearchPlace({ asOf, ...rest }) : null };
  }

  async #described(shown: readonly ShownHit[]): Promise<readonly SearchHit[]> {
    const refs = new Map(shown.map(({ hit: { ref }, reach: { sessionId } }) => [sessionId, ref]));
    const records = [...refs].map(
      async ([id, ref]) => [id, (await this.#env.store.record(ref))?.title] as const,
    );
    const titles = new Map(await Promise.all(records));
    return shown.map(({ hit, places, reach: { sessionId } }) =>
      shownHit(hit, places, sessionId, titles.get(sessionId)),
    );
  }

  /** The next messages that are ranked together, the best first. */
  async #rank(
    query: Omit<SaidQuery, 'limit' | 'chars'>,
    question: SearchQuestion,
    asOf: number,
  ): Promise<{ readonly ranked: readonly Ranked[]; readonly first: number; readonly next: number | null }> {
    const found: (Ranked & { readonly weight: number })[] = [];
    let next: number | null = query.before ?? null;
    let first: number | null = null;
    let chars = RANKED.chars;
    let inTurn = 0;
    for (let pages = 0; pages < PAGES; pages += 1) {
      const page: SaidPage = await this.#find({
        ...query,
        ...{ limit: RANKED.messages - found.length, chars },
        ...(next !== null && { before: next }),
      });
      for (const hit of page.hits) {
        first ??= hit.place;
        chars -= hit.text.length;
        inTurn += hit.text.length;
        const passages = question.in(hit.text);
        if (passages) found.push({ ...passages, hit, weight: passages.score * newness(hit, asOf) });
        if (inTurn < TURN) continue;
        inTurn = 0;
        await nextTurn();
      }
      ({ next } = page);
      if (next === null || found.length >= RANKED.messages || chars <= 0) break;
      await nextTurn();
    }
    return { ranked: found.sort((a, b) => b.weight - a.weight), first: first ?? 0, next };
  }

  async #find(query: SaidQuery): Promise<SaidPage> {
    // A store behind another process may turn out to have no index.
    return (await this.#env.store.search?.(query)) ?? readConversations(this.#env, query);
  }
}

/** From 1 for what was said just now to a half for what is old. */
const newness = ({ at }: SaidHit, asOf: number): number =>
  0.5 + 0.5 ** (1 + Math.max(0, asOf - at) / HALF_MS);

function shownHit(
  { ref: { app }, epoch, term, seq, messageId, role, at, text }: SaidHit,
  places: Passages['places'],
  sessionId: string,
  title: string | undefined,
): SearchHit {
  return {
    ...{ sessionId, app },
    ...(title !== undefined && { title }),
    ...{ messageId, role, at, cursor: formatCursor(epoch, term, seq) },
    ...snippetOf(text, places),
  };
}
