import { type ClientSearch, clientSearch, type SearchHit } from '../../client/search/index.js';
import { defineApp, type GatewayConfig } from '../../server/index.js';
import { connectClient } from '../support/client.js';
import { FAST, startGateway } from '../support/gateway.js';
import { byName } from '../support/users.js';

/** Says again what it was told. */
const parrot = defineApp({
  async *run({ text }) {
    yield `You said ${text}`;
  },
});

/** A gateway, and its people with their searches. */
export async function beginSearch(config: Partial<GatewayConfig<any, any, any>> = {}) {
  const started = await startGateway({
    ...{
      apps: { parrot, other: parrot },
      defaultApp: 'parrot',
      auth: byName,
      shareLinks: { upTo: 'operator' },
    },
    ...config,
    limits: { ...FAST, ...config.limits },
  });
  const person = (token: string) => {
    const client = connectClient(started.url, { token });
    return { client, search: clientSearch(client) };
  };
  return { ...started, person };
}

/** All that a search finds, page by page. */
export async function findAll(
  search: ClientSearch,
  ...[query, options]: Parameters<ClientSearch>
): Promise<SearchHit[]> {
  const all: SearchHit[] = [];
  let cursor: string | null | undefined;
  do {
    const page = await search(query, { ...options, ...(cursor && { cursor }) });
    all.push(...page.hits);
    ({ cursor } = page);
  } while (cursor !== null);
  return all;
}

export const snippets = (hits: readonly SearchHit[]): string[] => hits.map(({ snippet }) => snippet);
/** The marked parts of a snippet. */
export const marked = ({ snippet, marks }: SearchHit): string[] =>
  marks.map(([begin, end]) => snippet.slice(begin, end));
