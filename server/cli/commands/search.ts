import { clientSearch, type SearchHit } from 'agent-session-gateway/client/search';
import { Command } from 'commander';
import { type CommandConnection, withClient, withConnection } from '../connection.js';
import { styled, type Terminal } from '../terminal.js';
import { wholeNumber } from '../whole-number.js';

interface SearchCommandOptions extends CommandConnection {
  readonly limit: number;
  readonly app?: string;
  readonly session?: string;
  readonly json?: true;
}

/** `search`: finds what was said in a user's sessions. */
export function searchCommand(terminal: Terminal): Command {
  return withConnection(new Command('search'))
    .description('find what was said in your sessions, the best first')
    .argument('<words...>', 'words that a message must have')
    .option('--limit <count>', 'how many', wholeNumber, 20)
    .option('--app <name>', 'in sessions of this app only')
    .option('--session <key>', 'in this session only')
    .option('--json', 'write each as a line of JSON')
    .action((words: readonly string[], options: SearchCommandOptions) =>
      search(words.join(' '), options, terminal),
    );
}

async function search(query: string, options: SearchCommandOptions, terminal: Terminal): Promise<void> {
  const { limit, app, session: sessionId, json } = options;
  await withClient(options, async (client) => {
    const find = clientSearch(client);
    let cursor: string | null | undefined;
    for (let left = limit; left > 0 && cursor !== null; ) {
      const page = await find(query, {
        ...{ limit: Math.min(left, 100), app, sessionId },
        ...(cursor !== undefined && { cursor }),
      });
      for (const hit of page.hits) {
        if (json) terminal.say(JSON.stringify(hit));
        else tell(hit, terminal);
      }
      left -= page.hits.length;
      ({ cursor } = page);
    }
    if (cursor !== null) terminal.warn(styled('dim', 'There may be more; --limit shows them.'));
  });
}

function tell({ sessionId, at, role, title, snippet, marks }: SearchHit, terminal: Terminal): void {
  const parts = marks.flatMap(([begin, end], i) => [
    snippet.slice(marks[i - 1]?.[1] ?? 0, begin),
    styled('yellow', snippet.slice(begin, end)),
  ]);
  terminal.say(
    `${new Date(at).toISOString()}  ${sessionId}  `,
    styled('dim', `${role}  ${title === undefined ? '' : `${title}  `}`),
    ...parts,
    snippet.slice(marks.at(-1)?.[1] ?? 0),
  );
}
