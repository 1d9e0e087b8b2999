import * as z from 'zod';
import type { UserContext } from '../../../shared/contract.js';
import type { SearchHit, SearchParams, SearchResult } from '../../../shared/search/contract.js';
import { type Tool, tool } from '../../apps/tool.js';

/** The part of a gateway that the tool calls. */
export interface SearchedGateway {
  execute(
    name: 'search',
    params: SearchParams,
    options: { readonly user: UserContext },
  ): Promise<SearchResult>;
}

/** The input of the tool. */
export interface SearchSessionsInput {
  readonly query: string;
}

/** The output of the tool. */
export interface FoundSessions {
  readonly found: readonly Pick<SearchHit, 'sessionId' | 'title' | 'role' | 'at' | 'snippet'>[];
}

/**
 * A tool for an app's model, and by `mcpServerPlugin` for others: finds what was said in the sessions that the user may see who sent the message.
 *
 * @param gateway Called at each use, since an app is made before its gateway
 *
 * @example
 * ```ts
 * let gateway: Gateway;
 * const app = defineApp({ tools: { searchSessions: searchSessions(() => gateway) }, run: ({ text }) => text });
 * gateway = createGateway({ app });
 * ```
 */
export function searchSessions(gateway: () => SearchedGateway): Tool<SearchSessionsInput, FoundSessions> {
  return tool({
    description: 'Finds what was said in earlier conversations of the user, by words.',
    hints: { readOnly: true },
    schema: z.object({ query: z.string().min(1).max(200) }),
    async handler({ query }, { user }) {
      if (!user) return { found: [] };
      const { hits } = await gateway().execute('search', { query, limit: 10 }, { user });
      const found = hits.map(({ sessionId, title, role, at, snippet }) => ({
        ...{ sessionId, role, at, snippet },
        ...(title !== undefined && { title }),
      }));
      return { found };
    },
  });
}
