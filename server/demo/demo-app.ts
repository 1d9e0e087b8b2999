import { setTimeout as delay } from 'node:timers/promises';
import * as z from 'zod';
import { textOf } from '../../shared/messages.js';
import { type App, defineApp, ToolCallError, type Turn, tool } from '../index.js';
import { research } from './research.js';
import { STORY } from './story.js';

const HELP = `I am the demo app: no model, no network, always the same answers. Try:
- weather in Oslo: calls a tool
- delete report.txt: asks for your confirmation first
- announce Lunch is ready: publishes on the channel announcements
- story: a long answer; interrupt it, abort it, or send more with onBusy "steer"
- research bees: three helpers work at the same time, each a run that can be steered and ended
`;

const SKIES = ['sunny', 'cloudy', 'rainy', 'windy', 'foggy', 'snowy'] as const;

const tools = {
  weather: tool({
    description: 'The weather of a city, made up but always the same',
    schema: z.object({ city: z.string().min(1) }),
    handler: ({ city }) => {
      const sum = [...city.toLowerCase()].reduce((total, letter) => total + letter.charCodeAt(0), 0);
      return { city, sky: SKIES[sum % SKIES.length]!, celsius: (sum % 35) - 5 };
    },
  }),
  delete: tool({
    description: 'Pretends to delete a file',
    schema: z.object({ file: z.string().min(1) }),
    confirm: true,
    confirmMessage: ({ file }) => `Delete ${file}?`,
    handler: ({ file }) => ({ deleted: file }),
  }),
};

type DemoTurn = Turn<typeof tools>;
type DemoAnswer = AsyncGenerator<string, void>;

/**
 * The built-in app of `npm start`: deterministic, without a key or network.
 *
 * @param wordMs Pause before each word, in milliseconds. @default 30
 * @param resumable Whether an answer resumes after its process died. @default false
 */
export function createDemoApp(wordMs = 30, resumable = false): App<typeof tools> {
  return defineApp({
    resumable,
    description: 'Shows what a gateway can do, without a model',
    suggestions: [
      { text: 'story', shows: 'A long answer: cut it, steer it, stop it' },
      { text: 'weather in Oslo', shows: 'Calls a tool, and shows what it returned' },
      { text: 'research bees', shows: 'Has three helpers work at once, each a run of its own' },
      { text: 'delete report.txt', shows: 'Asks for your consent first' },
    ],
    tools,
    run(turn) {
      const [command = '', ...rest] = turn.text.trim().split(/\s+/);
      const argument = rest.join(' ');
      switch (command.toLowerCase()) {
        case 'weather':
          return words(turn, wordMs, weather(turn, argument.replace(/^in\s+/i, '') || 'Oslo'));
        case 'delete':
          return words(turn, wordMs, deletion(turn, argument || 'report.txt'));
        case 'announce':
          return words(turn, wordMs, announcement(turn, argument || 'Hello, everybody'));
        case 'research':
          return words(turn, wordMs, research(turn, argument || 'bees', wordMs));
        case 'story':
        case 'long':
          return words(turn, wordMs, story(turn));
        default:
          return words(turn, wordMs, greeting(turn));
      }
    },
  });
}

/** Yields text word by word, so that the answer grows visibly. */
async function* words(turn: DemoTurn, wordMs: number, texts: DemoAnswer): DemoAnswer {
  // Words that readers have already need not come slowly again.
  let said = turn.resumed ? textOf(turn.resumed).length : 0;
  for await (const text of texts) {
    for (const word of text.match(/\S+\s*|\s+/g) ?? []) {
      if (said <= 0) await delay(wordMs, undefined, { signal: turn.signal });
      said -= word.length;
      yield word;
    }
  }
}

async function* greeting(turn: DemoTurn): DemoAnswer {
  yield `You said: ${turn.text}\n\n${HELP}`;
}

async function* weather(turn: DemoTurn, city: string): DemoAnswer {
  yield 'Let me look. ';
  const report = await turn.callTool('weather', { city });
  turn.data('weather', report);
  yield `It is ${report.sky} in ${report.city}, ${report.celsius} °C.`;
}

async function* deletion(turn: DemoTurn, file: string): DemoAnswer {
  yield 'I need your permission. ';
  try {
    const { deleted } = await turn.callTool('delete', { file });
    yield `Done: ${deleted} is gone (not really).`;
  } catch (error) {
    if (!(error instanceof ToolCallError && error.denied)) throw error;
    yield `Then ${file} stays.`;
  }
}

async function* announcement(turn: DemoTurn, text: string): DemoAnswer {
  turn.publish('announcements', { text });
  yield `Announced: ${text}`;
}

async function* story(turn: DemoTurn): DemoAnswer {
  for (const sentence of STORY) {
    for (const { content } of turn.steered()) {
      const said = content.map((block) => (block.type === 'text' ? block.text : '')).join('');
      yield `(You say: ${said}. Noted.) `;
    }
    yield `${sentence} `;
  }
}
