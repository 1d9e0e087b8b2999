import { expect } from 'chai';
import { formatCursor } from '../../shared/cursor.js';
import type { LoggedEvent } from '../../shared/events.js';
import { initialState, reduce } from '../../shared/fold.js';
import type { Message } from '../../shared/messages.js';
import { violationsOf } from './checker/judge.js';
import type { Costs, History, Reading, Shown, View } from './history.js';

const EPOCH = 'AAAAAAAAAAA';

type Loose = { [key: string]: any };
type Events = Loose[];

/** A history in which nothing is wrong, as plain data: tests break it. */
interface Forged {
  logs: Record<string, Events>;
  sent: Loose[];
  aborted: Loose[];
  answered: Loose[];
  calls: Loose[];
  readings: { reader: string; sessionId: string; by: 'sdk' | 'raw'; shown: Loose[] }[];
  costs: { -readonly [Cost in keyof Costs]: boolean };
}

const textBlock = (text: string) => [{ type: 'text' as const, text }];

const userMessage = (id: string, text: string): Message => ({
  id,
  role: 'user',
  content: textBlock(text),
  createdAt: 1,
});

function answer(runId: string, text: string): Loose {
  return {
    id: `answer-${runId}`,
    role: 'assistant',
    content: text === '' ? [] : textBlock(text),
    createdAt: 1,
  };
}

/** The events of one run: accepted, begun, with what it says in between, and ended. */
function runOf(
  runId: string,
  text: string,
  { says = [], ask, stopReason = 'end' }: { says?: readonly string[]; ask?: Loose[]; stopReason?: string },
): Events {
  const client = text.split('/')[0]!;
  const number = text.split(/[/ ]/)[1]!;
  return [
    {
      type: 'message_accepted',
      runId,
      message: userMessage(`message-${runId}`, text),
      key: `${client}-${number}`,
      onBusy: 'queue',
      position: 0,
    },
    { type: 'message_start', runId, messageId: `answer-${runId}`, app: 'talk' },
    ...(ask ?? []).map((event) => ({ ...event, runId })),
    ...says.map((delta) => ({ type: 'content_delta', runId, delta, index: 0 })),
    { type: 'message_end', runId, stopReason, message: answer(runId, says.join('')) },
  ];
}

function placed(sessionId: string, events: Events, term = 1): Events {
  return events.map((event, index) => ({
    sessionId,
    ts: 1,
    cursor: formatCursor(EPOCH, event.term ?? term, index + 1),
    ...event,
  }));
}

function shownOf(events: Events): Shown[] {
  return structuredClone(events.map((event) => ({ kind: 'event' as const, event }))) as never;
}

function forged(): Forged {
  const talk = [
    ...runOf('run-1', 'a/1 say 2', { says: ['[a/1:0]', '[a/1:1]'] }),
    ...runOf('run-2', 'a/2 say 1', { says: ['[a/2:0]'] }),
  ];
  const asks = runOf('run-3', 'b/1 question', {
    says: ['heard Ann to call-1'],
    ask: [
      { type: 'input_required', callId: 'call-1', name: 'which' },
      { type: 'input_result', callId: 'call-1', name: 'which', output: 'Ann to call-1', by: 'token' },
    ],
  });
  const logs = { t: placed('t', talk), 'asks:q': placed('asks:q', asks) };
  const sentAs = (sessionId: string, key: string, text: string, runId: string, said: string): Loose => ({
    client: key[0],
    number: Number(key[2]),
    sessionId,
    key,
    text,
    onBusy: 'queue',
    acknowledged: [{ runId }],
    ends: [{ runId, stopReason: 'end', text: said }],
  });
  return {
    logs,
    sent: [
      sentAs('t', 'a-1', 'a/1 say 2', 'run-1', '[a/1:0][a/1:1]'),
      sentAs('t', 'a-2', 'a/2 say 1', 'run-2', '[a/2:0]'),
      sentAs('asks:q', 'b-1', 'b/1 question', 'run-3', 'heard Ann to call-1'),
    ],
    aborted: [],
    answered: [
      { sessionId: 'asks:q', callId: 'call-1', person: 'Ann', said: 'Ann to call-1', counted: true },
      { sessionId: 'asks:q', callId: 'call-1', person: 'Bob', said: 'Bob to call-1', counted: false },
    ],
    calls: [
      { node: 'node-1', sessionId: 't', runId: 'run-1', text: 'a/1 say 2', resumed: false },
      { node: 'node-1', sessionId: 't', runId: 'run-2', text: 'a/2 say 1', resumed: false },
      { node: 'node-2', sessionId: 'asks:q', runId: 'run-3', text: 'b/1 question', resumed: false },
      { node: 'node-3', sessionId: 'asks:q', runId: 'run-3', text: 'b/1 question', resumed: true },
    ],
    readings: [
      { reader: 'sdk', sessionId: 't', by: 'sdk', shown: shownOf(logs.t) },
      {
        reader: 'raw',
        sessionId: 't',
        by: 'raw',
        shown: [
          { kind: 'connected', after: '' },
          ...shownOf(logs.t.slice(0, 3)),
          { kind: 'connected', after: logs.t[2]!.cursor },
          ...shownOf(logs.t.slice(3)),
        ],
      },
    ],
    costs: { lostRuns: false, forgotten: false },
  };
}

function viewOf(node: string, sessionId: string, events: Events): View {
  const state = (events as LoggedEvent[]).reduce(reduce, initialState);
  return { node, sessionId, events: structuredClone(events) as never, state, messages: state.messages };
}

/** The history that a forgery tells, with what gateways show derived from the logs. */
function historyOf({ logs, ...rest }: Forged, change: (views: Loose[]) => void = () => {}): History {
  const views = Object.entries(logs).flatMap(([sessionId, events]) =>
    ['node-1', 'node-2'].map((node) => viewOf(node, sessionId, events)),
  );
  change(views);
  return { ...rest, views } as never;
}

/** Has the readers of a session shown its log as it is now. */
function shownAgain(history: Forged, sessionId: string): void {
  for (const reading of history.readings)
    if (reading.sessionId === sessionId) reading.shown = shownOf(history.logs[sessionId]!);
}

/** Replaces the log of a session, and what its readers were shown. */
function relog(history: Forged, sessionId: string, change: (events: Events) => Events): void {
  const bare = history.logs[sessionId]!.map(({ cursor: _cursor, ...event }) => event);
  history.logs[sessionId] = placed(sessionId, change(bare));
  shownAgain(history, sessionId);
}

const at = (events: Events, type: string): number => events.findIndex((event) => event.type === type);

/** Has the run of the log end otherwise than its sender was told. */
const endedAs = (stopReason: string) => (history: Forged) => {
  relog(history, 't', (events) => {
    events[4]!.stopReason = stopReason as never;
    return events;
  });
  history.sent[0]!.ends = [];
};

type Forgery = readonly [what: string, expected: RegExp, forge: (history: Forged) => void];

const FORGERIES: readonly Forgery[] = [
  [
    'a term that falls',
    /a term that falls/,
    ({ logs, readings }) => {
      logs.t![2]!.cursor = formatCursor(EPOCH, 9, 3);
      readings.splice(0);
    },
  ],
  [
    'a hole in the log',
    /in the place of number/,
    (history) => {
      history.logs.t!.splice(3, 1);
      shownAgain(history, 't');
    },
  ],
  [
    'a run that starts twice',
    /starts twice/,
    (history) => relog(history, 't', (events) => [...events.slice(0, 2), events[1]!, ...events.slice(2)]),
  ],
  [
    'a run that ends twice',
    /ends twice/,
    (history) => relog(history, 't', (events) => [...events, events.at(-1)!]),
  ],
  ['a run without an end', /has no end/, (history) => relog(history, 't', (events) => events.slice(0, -1))],
  [
    'runs beside one another',
    /starts while run-1 runs/,
    (history) =>
      relog(history, 't', (events) => {
        const end = at(events, 'message_end');
        return [
          ...events.slice(0, end),
          ...events.slice(end + 1, end + 3),
          events[end]!,
          ...events.slice(end + 3),
        ];
      }),
  ],
  [
    'what a run says after its end',
    /content_delta of run-1 while null runs/,
    (history) => relog(history, 't', (events) => [...events, { ...events[2]! }]),
  ],
  [
    'a later message that runs first',
    /starts before run-1/,
    (history) =>
      relog(history, 't', (events) => [events[0]!, events[5]!, ...events.slice(6), ...events.slice(1, 5)]),
  ],
  [
    'messages of one client in another order',
    /sent a-1 before/,
    (history) => relog(history, 't', (events) => [...events.slice(5), ...events.slice(0, 5)]),
  ],
  [
    'two runs of a key',
    /key a-1 has two runs/,
    (history) =>
      relog(history, 't', (events) => {
        for (const event of events) if (event.key === 'a-2') event.key = 'a-1';
        return events;
      }),
  ],
  [
    'a message that is accepted twice under two runs',
    /is accepted twice/,
    (history) =>
      relog(history, 't', (events) => [
        ...events,
        ...runOf('run-9', 'a/1 say 2', { says: ['[a/1:0]', '[a/1:1]'] }),
      ]),
  ],
  [
    'an answer with a piece twice',
    /was to say/,
    (history) =>
      relog(history, 't', (events) => {
        events[4]!.message = answer('run-1', '[a/1:0][a/1:0][a/1:1]');
        return events;
      }),
  ],
  ['a lost run where nothing was to be lost', /ends as lost/, endedAs('lost')],
  ['a run that nobody aborted', /ends as aborted, for which/, endedAs('aborted')],
  [
    'an acknowledged message that is in no log',
    /which is in no log/,
    ({ sent }) => {
      sent[0]!.acknowledged.push({ runId: 'run-8' });
      sent[0]!.ends = [];
    },
  ],
  [
    'a key that was acknowledged as two runs',
    /acknowledged as run-1 and run-2/,
    ({ sent }) => void sent[0]!.acknowledged.push({ runId: 'run-2' }),
  ],
  [
    'a sender who was told another end',
    /was told lost/,
    ({ sent }) => {
      sent[0]!.ends[0].stopReason = 'lost';
    },
  ],
  [
    'a sender who was told another text',
    /and the log says end/,
    ({ sent }) => {
      sent[0]!.ends[0].text = '[a/1:0]';
    },
  ],
  [
    'a message that was refused',
    /was refused/,
    ({ sent }) => {
      sent[0]!.refused = '422 IDEMPOTENCY_CONFLICT';
    },
  ],
  [
    'an abort that was taken back',
    /was said to be aborted/,
    ({ aborted }) => void aborted.push({ sessionId: 't', runId: 'run-1', aborted: true, attempts: 1 }),
  ],
  [
    'two answers that count',
    /Bob was told/,
    ({ answered }) => {
      answered[1]!.counted = true;
    },
  ],
  [
    'an answer that counts and is not logged',
    /whose answer is undefined/,
    (history) => {
      relog(history, 'asks:q', (events) => events.filter(({ type }) => type !== 'input_result'));
    },
  ],
  ['an answer that nobody gave', /which nobody gave/, ({ answered }) => void answered.splice(0)],
  [
    'an app that heard another answer',
    /and says/,
    (history) =>
      relog(history, 'asks:q', (events) => {
        events[4]!.delta = 'heard Bob to call-1';
        events[5]!.message = answer('run-3', 'heard Bob to call-1');
        return events;
      }),
  ],
  [
    'an app that was called twice',
    /called at node-1 and again at node-2/,
    ({ calls }) => void calls.push({ ...calls[0]!, node: 'node-2' }),
  ],
  [
    'a run that goes on and is not resumable',
    /which is not resumable/,
    ({ calls }) => void calls.push({ ...calls[0]!, node: 'node-2', resumed: true }),
  ],
  [
    'an app that was called for nothing',
    /which is in no log/,
    ({ calls }) => void calls.push({ ...calls[0]!, runId: 'run-8' }),
  ],
  ['an answer without a call of the app', /its app was never called/, ({ calls }) => void calls.splice(0, 1)],
  [
    'an event that the SDK shows twice',
    /after number 3/,
    ({ readings }) => void readings[0]!.shown.splice(3, 0, readings[0]!.shown[2]!),
  ],
  ['an event that a reader is not shown', /a hole/, ({ readings }) => void readings[0]!.shown.splice(2, 1)],
  ['a reader that is shown less', /up to number 8 of 9/, ({ readings }) => void readings[0]!.shown.pop()],
  [
    'a raw reader that is led past an event',
    /was led to/,
    ({ readings, logs }) => {
      readings[1]!.shown[4]!.after = logs.t![4]!.cursor;
      readings[1]!.shown.splice(5, 2);
    },
  ],
  [
    'an id with two contents',
    /with another content/,
    ({ readings }) => {
      readings[0]!.shown[2]!.event.delta = '[other]';
    },
  ],
  [
    'an event that is in no log',
    /is in no log/,
    ({ readings }) => {
      readings[0]!.shown[2]!.event.cursor = formatCursor(EPOCH, 2, 3);
    },
  ],
  [
    'a gap where nothing was lost',
    /a gap \(truncated\)/,
    ({ readings }) => void readings[0]!.shown.splice(9, 0, { kind: 'gap', reason: 'truncated' }),
  ],
  [
    'a reader that failed',
    /failed: 410/,
    ({ readings }) => void Object.assign(readings[0]!, { failed: '410' }),
  ],
];

const VIEWS: readonly (readonly [what: string, expected: RegExp, forge: (views: Loose[]) => void])[] = [
  ['gateways that show other logs', /shows other events/, (views) => views[1]!.events.pop()],
  [
    'gateways that show other states',
    /shows other state/,
    (views) => {
      views[1]!.state = { ...views[1]!.state, queue: [{ runId: 'run-7' }] };
    },
  ],
  [
    'gateways that show other histories',
    /shows other messages/,
    (views) => {
      views[1]!.messages = views[1]!.messages.slice(1);
    },
  ],
  [
    'a state that its events do not fold to',
    /do not fold to/,
    (views) => {
      for (const view of views) view.state = { ...view.state, tip: 'message-0' };
    },
  ],
  [
    'a session that began twice',
    /began 2 times/,
    (views) => {
      for (const view of views) view.events.push({ ...view.events[0]!, cursor: 'BBBBBBBBBBB.1.10' });
    },
  ],
];

describe('the checker of chaos tests', () => {
  it('finds nothing where nothing is wrong', () => {
    expect(violationsOf(historyOf(forged()))).to.deep.equal([]);
  });

  for (const [when, isWrong] of [
    ['before it said anything', true],
    ['after what it said', false],
  ] as const)
    it(`${isWrong ? 'finds' : 'allows'} a run that was asked again ${when}, and keeps to the first answer`, () => {
      const history = forged();
      history.answered.push({
        sessionId: 'asks:q',
        callId: 'call-2',
        person: 'Bob',
        said: 'Bob to call-2',
        counted: true,
      });
      relog(history, 'asks:q', (events) => {
        const again = events
          .slice(2, 4)
          .map((event) => ({ ...event, callId: 'call-2', ...(event.output && { output: 'Bob to call-2' }) }));
        return events.toSpliced(at(events, isWrong ? 'content_delta' : 'message_end'), 0, ...again);
      });
      const found = violationsOf(historyOf(history)).join('\n');
      if (isWrong) expect(found).to.match(/was answered "Bob to call-2" and says "heard Ann/);
      else expect(found).to.equal('');
    });

  for (const [what, expected, forge] of FORGERIES) {
    it(`finds ${what}`, () => {
      const history = forged();
      forge(history);
      expect(violationsOf(historyOf(history)).join('\n')).to.match(expected);
    });
  }

  for (const [what, expected, forge] of VIEWS) {
    it(`finds ${what}`, () => {
      expect(violationsOf(historyOf(forged(), forge)).join('\n')).to.match(expected);
    });
  }

  it('allows what a store may forget, where readers were told of it', () => {
    const history = forged();
    const [reading] = history.readings as unknown as [Reading & { shown: Loose[] }];
    const [last] = shownOf(history.logs.t!.slice(8)) as unknown as [Loose];
    last.event.cursor = formatCursor(EPOCH, 2, 9);
    // It was shown an end that the store has forgotten, and then how the log goes on.
    reading.shown.splice(
      8,
      0,
      last,
      { kind: 'gap', reason: 'truncated' },
      {
        kind: 'snapshot',
        cursor: history.logs.t![7]!.cursor,
      },
    );
    expect(violationsOf(historyOf(history))).not.to.deep.equal([]);
    history.costs.forgotten = true;
    expect(violationsOf(historyOf(history))).to.deep.equal([]);
  });
});
