// The states of the playground: screenshots.ts takes their pictures, and test/e2e/playground-states.slow.test.ts asks axe about each.
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { z } from 'zod';
import { createClient } from '../client/index.js';
import { sessionPresence } from '../client/people/index.js';
import { createGateway, defineApp, type Gateway, method, type Turn, tool } from '../server/index.js';
import { playgroundPlugin } from '../server/plugins/playground/index.js';

/** Windows: a small phone, a tablet, a desk. */
export const WIDTHS = { phone: [390, 844], tablet: [1024, 768], desk: [1440, 900] } as const;
export type Width = keyof typeof WIDTHS;

const TOKENS: Readonly<Record<string, string>> = { ann: 'ann-of-the-pictures', ben: 'ben-of-the-pictures' };
const DAY_MS = 86_400_000;

const LONG = `# Where the time goes

An answer passes **four places** before it is read:

1. the model, which writes it
2. the app, which passes it on
3. the log, which keeps it
4. the line to each reader

| place | median | longest |
|---|---|---|
| model | 410 ms | 1.9 s |
| log | 0.2 ms | 5 ms |

\`\`\`ts
for await (const text of client.send('main', 'Hello').text) process.stdout.write(text);
\`\`\`

> The log is written before anybody reads: what you saw is there after a restart.

A word without an end: ${'donaudampfschifffahrtsgesellschaft'.repeat(4)}.`;

const RTL =
  'مرحبا! هذه إجابة تُكتب من اليمين إلى اليسار، وفيها كلمة English في الوسط.\n\n- النقطة الأولى\n- النقطة الثانية';

/** Three helpers: one has ended, one asks, and one goes on until it is stopped. */
const HELPERS: Readonly<Record<string, (turn: Turn) => AsyncGenerator<string>>> = {
  async *prices() {
    yield 'The second shop is the cheapest, by 12 €.';
  },
  async *delivery(turn) {
    yield 'Two shops deliver on Thursday. ';
    yield `You said: ${await turn.ask({ name: 'Which address?' })}`;
  },
  async *opinions(turn) {
    yield 'I read what 212 buyers say. ';
    await once(turn.signal, 'abort');
  },
};

async function* compare(turn: Turn): AsyncGenerator<string> {
  yield 'Three helpers look at the shops.';
  const children = Object.entries(HELPERS).map(([id, run]) =>
    turn.spawn(id, { id, message: 'Compare the three shops', run }),
  );
  for (const { result } of children) await result;
}

/** Answers about orders, in each way that an answer may go. */
export const app = defineApp({
  description: 'An assistant for the pictures of this page',
  suggestions: [
    { text: 'When does my order arrive?', shows: 'A tool, and an answer' },
    { text: 'Refund my order, please', shows: 'A question before money moves' },
    { text: 'Compare the three shops', shows: 'Helpers of their own' },
  ],
  tools: {
    search: tool({
      description: 'Looks something up',
      schema: z.object({ query: z.string() }),
      handler: async ({ query }) => {
        await delay(300);
        return { query, hits: 3 };
      },
    }),
    track: tool({
      description: 'Asks the carrier',
      schema: z.object({ parcel: z.string() }),
      handler: () => {
        throw new Error('The carrier does not answer');
      },
    }),
    refund: tool({
      description: 'Pays money back',
      schema: z.object({ order: z.string(), amount: z.number() }),
      confirm: true,
      confirmMessage: ({ order, amount }) => `Refund ${amount} € for order ${order}?`,
      handler: (input) => input,
    }),
  },
  async *run(turn) {
    const words = async function* (text: string, ms: number) {
      for (const word of text.match(/\S+\s*/g) ?? []) {
        await delay(ms, undefined, { signal: turn.signal });
        yield word;
      }
    };
    if (/refund/i.test(turn.text)) {
      yield* words('I found the order. It was delivered late, so a refund is due. ', 5);
      await turn.callTool('refund', { order: '2041', amount: 49 });
      yield 'Done.';
    } else if (/compare/i.test(turn.text)) yield* compare(turn);
    else if (/send it/.test(turn.text)) {
      const { place } = (await turn.ask({
        name: 'Where to?',
        payload: { parcels: 2 },
        schema: z.object({
          place: z.string().min(2).describe('A street and a town'),
          parcels: z.number().int(),
          speed: z.enum(['as usual', 'by tomorrow']),
        }),
      })) as { place: string };
      yield `It goes to ${place}.`;
    } else if (/person/.test(turn.text)) {
      yield 'I have asked a colleague.';
      turn.handOff({ reason: 'A complaint' });
    } else if (/broken/.test(turn.text)) {
      yield 'Let me look. ';
      await turn.callTool('track', { parcel: '2041' }).catch(() => {});
      turn.data('parcel', { seen: 'Wednesday', at: 'Leipzig' });
      throw new Error('no');
    } else if (/slow/.test(turn.text)) yield* words(LONG, 4000);
    else if (/long/.test(turn.text)) yield LONG;
    else if (/العربية/.test(turn.text)) yield RTL;
    else {
      yield {
        type: 'reasoning_delta',
        delta: 'They want to know when it arrives. I look the order up first.',
      };
      await delay(250);
      yield* words('Let me look up your order. ', 40);
      await turn.callTool('search', { query: 'order 2041' });
      yield* words(
        'It left the warehouse this morning and arrives on Thursday between 9 and 12. You can follow it by the link in your mail.',
        40,
      );
      turn.usage({ inputTokens: 118, outputTokens: 46, totalTokens: 164 });
    }
  },
} as Parameters<typeof defineApp>[0]);

const find = method({
  description: 'Finds an order by its number',
  schema: z.object({ order: z.string(), withInvoice: z.boolean().optional() }),
  handler: ({ order }) => ({ order, state: 'on its way' }),
});

const box = (page: Page) => page.getByLabel('Message', { exact: true });
/** Has a page send a message. */
export const say = async (page: Page, text: string) => {
  await box(page).fill(text);
  // On a touch screen Enter begins a line.
  await page.getByRole('button', { name: 'Send', exact: true }).click();
};
const answered = (page: Page, many = 1) =>
  page.waitForFunction(
    (count) => document.querySelectorAll('.message.assistant .outcome').length >= count,
    many,
  );
const view = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name, exact: true }).click();

const toSession = async (page: Page, sessionId: string) => {
  await page.evaluate((id) => {
    location.hash = `#/chat/${id}`;
  }, sessionId);
  await page.getByText('An assistant for the pictures').waitFor();
};
const ask = async (page: Page) => {
  await say(page, 'When does my order arrive?');
  await answered(page);
};
const askForRefund = async (page: Page) => {
  await say(page, 'Refund my order, please');
  await page.getByRole('button', { name: 'Approve' }).waitFor();
};
/** Shows what can be done about people, which a phone has in a menu. */
const showPeople = async (page: Page) => {
  if (await page.getByRole('button', { name: 'Share…' }).isVisible()) return;
  await page.getByRole('button', { name: 'Account ann' }).click();
  await page.getByRole('menuitem', { name: /^People/ }).click();
};
/** Has the page do something that a phone has in a menu. */
const act = async (page: Page, name: string, inMenu = name) => {
  const button = page.getByRole('banner').getByRole('button', { name, exact: true });
  if (await button.isVisible()) return button.click();
  await page.getByRole('button', { name: 'Account ann' }).click();
  await page.getByRole('menuitem', { name: inMenu }).click();
};
/** Opens the list of sessions where there is no room for it beside the conversation. */
const showList = async (page: Page) => {
  const burger = page.getByRole('banner').getByRole('button', { name: 'Sessions' });
  if (await burger.isVisible()) await burger.click();
};

/** What is done on a page until it shows a state. */
type Reach = (page: Page, gateway: Gateway, url: string) => Promise<unknown>;

interface State {
  /** What is done before the page opens. */
  readonly before?: (page: Page) => Promise<unknown>;
  /** Whether the page opens without a token. */
  readonly signedOut?: true;
  /** Whether it only shows. */
  readonly readOnly?: true;
  readonly reach: Reach;
}

/** The states, by their names. */
export const STATES: Readonly<Record<string, State>> = {
  loading: {
    before: (page) => page.route('**/events?*', () => {}),
    reach: (page) => page.locator('.messages .skeleton').waitFor(),
  },
  'signed-out': {
    signedOut: true,
    reach: async (page) => {
      await page.getByLabel('Token').fill('another');
      await page.getByRole('button', { name: 'Connect' }).click();
      await page.getByText('The gateway refuses this token.').waitFor();
    },
  },
  empty: { reach: async () => {} },
  answer: {
    reach: async (page) => {
      await ask(page);
      await page.locator('.message.assistant').hover();
    },
  },
  growing: {
    reach: async (page) => {
      await say(page, 'A slow answer, please');
      await page.locator('.growing').waitFor();
      await box(page).fill('And what does the log cost?');
      await page
        .locator('.composer input[type=file]')
        .setInputFiles({ name: 'invoice.pdf', mimeType: 'application/pdf', buffer: Buffer.from('%PDF-1.4') });
      await page.getByRole('button', { name: 'Remove invoice.pdf' }).waitFor();
      await page.getByRole('button', { name: /while an answer goes on/ }).click();
      await page.getByRole('menuitemradio').first().waitFor();
    },
  },
  waiting: { reach: askForRefund },
  question: {
    reach: async (page) => {
      await say(page, 'Please send it to me');
      const card = page.getByRole('region', { name: 'Question Where to?' });
      await card.getByLabel('place').fill('L');
      await card.getByRole('button', { name: 'Answer' }).click();
      await card.locator('[aria-invalid="true"]').first().waitFor();
    },
  },
  error: {
    reach: async (page) => {
      await say(page, 'Something broken');
      await page.locator('.outcome.bad').waitFor();
    },
  },
  offline: {
    reach: async (page) => {
      await ask(page);
      await page.context().setOffline(true);
      await page.getByText('No connection.').waitFor();
      await say(page, 'And where is it now?');
      await page.getByText('Waits for a connection').waitFor();
    },
  },
  long: {
    reach: async (page) => {
      await say(page, 'A long answer, please');
      await answered(page);
    },
  },
  'right-to-left': {
    reach: async (page) => {
      await say(page, 'من فضلك أجب باللغة العربية');
      await answered(page);
    },
  },
  editing: {
    reach: async (page) => {
      await ask(page);
      await page.locator('.message.user').hover();
      await page.getByRole('button', { name: 'Edit', exact: true }).click();
      await page.getByLabel('The message, changed').fill('When does order 2041 arrive?');
    },
  },
  code: {
    reach: async (page) => {
      await ask(page);
      await act(page, 'Code', 'Show code');
      await page.getByRole('region', { name: 'Code: send' }).waitFor();
    },
  },
  sessions: {
    reach: async (page) => {
      await ask(page);
      await toSession(page, 'second');
      await askForRefund(page);
      await showList(page);
      await page.getByRole('button', { name: 'More of main' }).click();
      await page.getByRole('menuitem', { name: 'Delete…' }).waitFor();
    },
  },
  'nothing-found': {
    reach: async (page) => {
      await ask(page);
      await showList(page);
      await page.getByRole('searchbox', { name: /^Find a session/ }).fill('passport');
      await page.getByText('Nothing is called “passport”.').waitFor();
    },
  },
  deleting: {
    reach: async (page) => {
      await ask(page);
      await showList(page);
      await page.getByRole('button', { name: 'More of main' }).click();
      await page.getByRole('menuitem', { name: 'Delete…' }).click();
      await page.getByRole('button', { name: 'Delete it' }).waitFor();
    },
  },
  runs: {
    reach: async (page) => {
      await say(page, 'Compare the three shops, please');
      await page.locator('[data-run][data-status=end]').waitFor();
      await page.getByText('waits for you: Which address?').waitFor();
      await page.getByRole('button', { name: 'Steer opinions' }).click();
      await page.getByLabel('Message for opinions').fill('Only those of this year');
    },
  },
  presence: {
    reach: async (page, gateway, url) => {
      await ask(page);
      const main = gateway.session('main', { user: { id: 'ann' } });
      const { grant } = await main.share({ with: { userId: 'ben' }, as: 'operator' });
      const ben = createClient({ baseUrl: url, token: TOKENS.ben! });
      page.once('close', () => ben.disconnect());
      const presence = sessionPresence(ben, grant.sessionId);
      presence.enter({ name: 'Ben' });
      presence.typing();
      await page.getByText('ben is typing').waitFor();
    },
  },
  person: {
    reach: async (page) => {
      await askForRefund(page);
      await showPeople(page);
      await page.getByRole('button', { name: 'Take over' }).click();
      await page.getByText('You have control').waitFor();
      await say(page, 'This is Ann. I have sent the money back.');
      await page.locator('.message.assistant', { hasText: 'This is Ann' }).waitFor();
    },
  },
  'hand-off': {
    reach: async (page) => {
      await say(page, 'I want to talk to a person');
      await page.getByText('The app asks for a person: A complaint').waitFor();
      await answered(page);
    },
  },
  sharing: {
    reach: async (page) => {
      await ask(page);
      await showPeople(page);
      await page.getByRole('button', { name: 'Share…' }).click();
      await page.getByRole('tab', { name: 'By a link' }).click();
      await page.getByRole('button', { name: 'Make a link' }).click();
      await page.getByLabel('The link, shown this once').waitFor();
    },
  },
  inbox: {
    reach: async (page) => {
      await askForRefund(page);
      await toSession(page, 'second');
      await say(page, 'When does my order arrive?');
      await page.locator('.fold.tool').first().waitFor();
      await toSession(page, 'third');
      await page.getByRole('button', { name: 'Inbox, 2 new' }).click();
      await page.getByText('1 unread, 1 for you to answer').waitFor();
    },
  },
  timeline: {
    reach: async (page) => {
      await say(page, 'When does my order arrive?');
      await page.locator('.fold.tool.running, .fold.tool.done').first().waitFor();
      await act(page, 'Cut connection');
      await answered(page);
      await view(page, 'Timeline');
      await page.locator('.drawing .outage').waitFor();
    },
  },
  trace: {
    reach: async (page) => {
      await say(page, 'A long answer, please');
      await answered(page);
      await say(page, 'When does my order arrive?');
      await answered(page, 2);
      await view(page, 'Timeline');
      await page.getByRole('list', { name: /^Trace of When/ }).waitFor();
    },
  },
  network: {
    reach: async (page) => {
      await ask(page);
      await view(page, 'Network');
    },
  },
  notices: {
    reach: async (page) => {
      await askForRefund(page);
      await page.getByRole('button', { name: 'Approve' }).click();
      await answered(page);
      await view(page, 'Notices');
      await page.getByText('failed, is tried again').waitFor();
      await page.getByText('told', { exact: true }).first().waitFor();
    },
  },
  calls: {
    reach: async (page) => {
      await view(page, 'Calls');
      await page.locator('summary', { hasText: 'orders:find' }).click();
      await page.getByLabel('order').fill('2041');
      await page.getByRole('button', { name: 'Call', exact: true }).click();
      await page.getByRole('figure', { name: 'Result of orders:find' }).waitFor();
    },
  },
  schedules: {
    reach: async (page) => {
      await view(page, 'Schedules');
      const form = page.getByRole('form', { name: 'New schedule' });
      for (const [message, when] of [
        ['Summarize what is open', '0 9 * * 1-5'],
        ['Is it there?', '7200'],
      ] as const) {
        await form.getByLabel('Message').fill(message);
        await form.getByLabel(/^When/).fill(when);
        await form.getByRole('button', { name: 'Schedule' }).click();
        await page.locator('.method', { hasText: message }).waitFor();
      }
      await form.scrollIntoViewIfNeeded();
    },
  },
  api: {
    reach: async (page) => {
      await view(page, 'API');
      await page.locator('.method summary').first().click();
    },
  },
  'read-only': { readOnly: true, reach: async () => {} },
};

/** A gateway of its own for each state, so that none shows what another has left. */
async function startGateway(readOnly: boolean) {
  const gateway = createGateway({
    port: 0,
    apps: { assistant: app },
    defaultApp: 'assistant',
    auth: {
      type: 'custom',
      validate: (token) => {
        const id = Object.keys(TOKENS).find((user) => TOKENS[user] === token);
        return id === undefined ? { valid: false } : { valid: true, user: { id } };
      },
    },
    shareLinks: true,
    notify: {
      unseenMs: 0,
      deliver: ({ kind }) => {
        // The state of notices shows one that was told, and one that is tried again.
        if (kind === 'input_required') throw new Error('The mail server is away');
      },
    },
    methods: { orders: { find } },
    // An app fails on purpose, and questions are left open.
    logger: { debug() {}, info() {}, warn() {}, error() {} },
    limits: { drainMs: 200 },
  }).use(playgroundPlugin({ path: '/', readOnly }));
  const main = gateway.session('main', { user: { id: 'ann' } });
  if (readOnly) await main.send('When does my order arrive?').result;
  const { url } = await gateway.start();
  return { gateway, url: url! };
}

/** Days since sessions were used that the pictures show besides. */
const AGES = [1, 3, 40];

/** Has the list show sessions of other days too: the gateway's clock cannot be turned back from here. */
const withDays = (page: Page) =>
  page.route('**/sessions?*', async (route) => {
    if (route.request().url().includes('query=')) return route.fallback();
    const response = await route.fetch().catch(() => undefined);
    const list = await response?.json().catch(() => undefined);
    if (!list) return route.abort().catch(() => {});
    const old = ['Change of address', 'Invoice of March', 'Which size fits?'].map((title, at) => ({
      ...{
        sessionId: `older-${at}`,
        app: 'assistant',
        status: 'idle',
        title,
        preview: 'Thank you, that helped.',
      },
      ...{ messageCount: 4, pending: 0, archived: false },
      ...{ createdAt: Date.now() - DAY_MS * AGES[at]!, updatedAt: Date.now() - DAY_MS * AGES[at]! },
    }));
    return route.fulfill({ response: response!, json: { ...list, sessions: [...list.sessions, ...old] } });
  });

/** Opens a page in one of the states. Whoever calls closes it. */
export async function openState(page: Page, name: string) {
  const { before, reach, signedOut, readOnly } = STATES[name]!;
  const { gateway, url } = await startGateway(readOnly === true);
  await withDays(page);
  await before?.(page);
  await page.goto(signedOut ? `${url}/` : `${url}/#token=${TOKENS.ann}&/chat/main`);
  if (!before && !signedOut) await page.getByRole('region', { name: /^Conversation/ }).waitFor();
  await reach(page, gateway, url);
  await page.mouse.move(0, 0);
  return {
    close: async () => {
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.context().close();
      await gateway.close();
    },
  };
}
