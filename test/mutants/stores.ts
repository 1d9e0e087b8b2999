import type { Mutant } from './mutant.js';

const APPENDING = 'server/stores/redis/scripts/append.ts';
const FROZEN = 'stands still|longer than';
const SEEDS = 'test/chaos/seeds.cluster.test.ts';
const ON_A_LINE = 'test/contract/line/redis.slow.test.ts';

/** Broken stores, and gateways that share one. */
export const STORES: readonly Mutant[] = [
  {
    name: 'no fence',
    file: APPENDING,
    edits: [
      [
        'if present ~= epoch or writer ~= term then\n  -- The writer',
        'if present ~= epoch then\n  -- The writer',
      ],
      ["if batch ~= written + 1 then return {'R', written} end", ''],
    ],
    test: SEEDS,
    faults: FROZEN,
  },
  {
    name: 'no key check',
    file: APPENDING,
    edits: [["if row then return {'K'", "if false then return {'K'"]],
    test: SEEDS,
    faults: '',
  },
  {
    name: 'resends written again',
    file: APPENDING,
    edits: [
      ["if batch <= written then return {'D', tonumber(writtenFrom), head, ordinal} end", ''],
      ['if batch ~= written + 1 then', 'if batch > written + 1 then'],
    ],
    test: SEEDS,
    faults: 'again and again',
  },
  {
    name: 'a term that is not raised',
    file: 'server/stores/redis/scripts/hold.ts',
    edits: [["given ~= '' and given or text(", 'last or text(']],
    test: SEEDS,
    faults: FROZEN,
  },
  {
    name: 'another Redis process that is taken for the same',
    file: 'server/stores/redis/membership.ts',
    edits: [['replaced: lapsed', 'replaced: () => {}']],
    test: 'test/cluster/redis.slow.test.ts',
    grep: 'forgets the session',
  },
  {
    name: 'a view that judges from memory',
    file: 'server/delivery/start.ts',
    edits: [['if (!start.gap || isFresh) return start;', 'return start;']],
    test: SEEDS,
    faults: FROZEN,
  },
  {
    name: 'a retake that is left out',
    file: 'server/sessions/hold.ts',
    edits: [['      else this.#doubt(tries);\n', '      else this.#free();\n']],
    test: 'test/sessions/life.test.ts',
  },
  {
    name: 'doubt that a second refusal takes',
    file: 'server/stores/redis/link.ts',
    edits: [['writes && isDoubtful ?', 'writes && passes && isDoubtful ?']],
    test: ON_A_LINE,
  },
  {
    name: 'a lease that is believed at once',
    file: 'server/stores/postgres/node.ts',
    edits: [['(known && now < this.#trustsUntil)', 'false']],
    test: 'test/contract/postgres-faults.slow.test.ts',
    grep: 'judges nobody for a lease',
  },
  {
    name: 'a leaving that is not said again',
    file: 'server/stores/postgres/node.ts',
    edits: [['toColumn(holder)).catch(() => this.#say(true));', 'toColumn(holder)).catch(() => {});']],
    test: 'test/contract/line/postgres.slow.test.ts',
    grep: 'English.*before.*leave',
  },
  {
    name: 'sessions of the dead, one at a time',
    file: 'server/cluster/cluster.ts',
    edits: [['atOnce(mine, TAKEN_AT_ONCE,', 'atOnce(mine, 1,']],
    test: 'test/cluster/take-over.test.ts',
  },
  {
    name: 'a close that hands nothing over',
    file: 'server/sessions/drain.ts',
    edits: [
      ['if (handOver) held?.runs.handOver();', ''],
      ['if (isLeft) await cluster.handOver(ref);', ''],
    ],
    test: 'test/cluster/memory.test.ts',
  },
  {
    name: 'resumable runs of the dead that are lost',
    file: 'server/held/recovery.ts',
    edits: [['if (!message || !app.resumable) return false;', 'return false;']],
    test: 'test/cluster/memory.test.ts',
  },
  {
    name: 'keys that memory forgets',
    file: 'server/stores/memory-runs.ts',
    edits: [['this.#byKey?.get(name.key)', 'undefined']],
    test: 'test/contract/memory.test.ts',
  },
];
