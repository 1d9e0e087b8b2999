import type { Mutant } from './mutant.js';

const MOVES = 'server/held/moves.ts';
const QUEUE = 'server/held/run-queue.ts';

/** Broken sessions: runs, questions, histories. */
export const SESSIONS: readonly Mutant[] = [
  {
    name: 'children that their parent leaves behind',
    file: 'server/runs/ending.ts',
    edits: [['return [...children, ', 'return [']],
    test: 'test/children/spawn.test.ts',
  },
  {
    name: 'a child that is begun again after a restart',
    file: 'server/held/spawning.ts',
    edits: [
      ['known ? join(held, known, by, says)', 'known && !parent.resumed ? join(held, known, by, says)'],
    ],
    test: 'test/children/spawn.test.ts',
  },
  {
    name: 'an end of a child that nobody is told of',
    file: 'server/held/child-ends.ts',
    edits: [['if (!lane) return [];', 'if (lane) return [];']],
    test: 'test/children/wakes.test.ts',
  },
  {
    name: 'gathered pieces that something else overtakes',
    file: 'server/log/gathered-pieces.ts',
    edits: [
      ['if (piece) entries.push(toEntry(piece));', 'if (piece) setImmediate(() => this.join(piece, true));'],
    ],
    test: 'test/log/moderation.test.ts',
  },
  {
    name: 'gathered pieces that the end leaves behind',
    file: 'server/log/gathered-pieces.ts',
    edits: [['if (this.#entries) this.#settled();', '']],
    test: 'test/log/moderation.test.ts',
  },
  {
    name: 'pieces of two blocks that are joined',
    file: 'server/log/joined-delta.ts',
    edits: [['next.index === first.index && next.type === first.type && ', '']],
    test: 'test/log/moderation.test.ts',
  },
  {
    name: 'pieces that wait while there is room',
    file: 'server/log/gather-control.ts',
    edits: [['const FULL = 0.78;', 'const FULL = 0;']],
    test: 'test/log/gather-control.test.ts',
  },
  {
    name: 'a key with another body',
    file: 'server/sessions/message-sender.ts',
    edits: [["if (known !== hash) throw new GatewayError({ code: 'IDEMPOTENCY_CONFLICT' });", '']],
    test: 'test/transports/http/send.test.ts',
  },
  {
    name: 'an end without what was said',
    file: 'server/runs/ending.ts',
    edits: [['message: said?.message ?? run.emptyAnswer()', 'message: run.emptyAnswer()']],
    test: 'test/sessions/superseded-answers.test.ts',
  },
  {
    name: 'a place that leaves out what has begun and is not stored',
    file: QUEUE,
    edits: [
      [
        'const before = place < 0 ? queue : queue.filter(({ runId }) => !isBehind(runId));',
        'const before = queue.filter(({ runId }) => !isBehind(runId) && this.active?.id !== runId);',
      ],
    ],
    test: 'test/sessions/place-in-queue.test.ts',
  },
  {
    name: 'a queue without an end',
    file: QUEUE,
    edits: [['if (this.#waiting.length >= this.#limit) {', 'if (false) {']],
    test: 'test/gateway/limits.test.ts',
  },
  {
    name: 'a busy session that refuses nobody',
    file: QUEUE,
    edits: [["if (onBusy === 'reject') {", 'if (false) {']],
    test: 'test/transports/http/send.test.ts',
  },
  {
    name: 'a steering message at the end of the queue',
    file: QUEUE,
    edits: [['ordinary >= 0 && (active || interrupts(this.#waiting[0]!))', 'ordinary >= 0 && active']],
    test: 'test/sessions/steered-interrupts.test.ts',
  },
  {
    name: 'a second answer that counts',
    file: 'server/runs/questions.ts',
    edits: [['if (this.#settled?.has(callId) || this.#answering?.has(callId))', 'if (false)']],
    test: 'test/sessions/questions.test.ts',
  },
  {
    name: 'an edit of what is not shown',
    file: MOVES,
    edits: [['if (await isShown(log, id)) return message;', 'return message;']],
    test: 'test/client/history.test.ts',
  },
  {
    name: 'a move that brings no messages',
    file: MOVES,
    edits: [['...(messages.length > 0 && { messages }),', '']],
    test: 'test/sessions/moves.test.ts',
  },
  {
    name: 'a move that says no replies',
    file: MOVES,
    edits: [['...(replies.length > 0 && { replies }),', '']],
    test: 'test/sessions/versions.test.ts',
  },
  {
    name: 'versions that know of no others',
    file: 'server/log/versions.ts',
    edits: [
      [
        'return versions.length > (message.versions?.length ?? 0) ? { ...message, versions } : message;',
        'return message;',
      ],
    ],
    test: 'test/sessions/moves.test.ts',
  },
  {
    name: 'a message behind any other',
    file: 'server/held/acceptance-plan.ts',
    edits: [
      [
        'if (behind === undefined || behind === last) return;',
        'if (behind !== last || behind === last) return;',
      ],
    ],
    test: 'test/gateway/planned-sends.test.ts',
  },
];
