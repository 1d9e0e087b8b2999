import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from '../support/program.js';

/**
 * Shows that chaos tests see what they are for: breaks one thing that the promises rest on, in a copy of the tree, and runs them there
 * until they fail. `node --import tsx test/chaos/mutants.ts [name …]`; exits non-zero where one is not caught.
 */
interface Mutant {
  readonly name: string;
  readonly file: string;
  readonly edits: readonly (readonly [find: string, replace: string])[];
  /** Which faults it takes: a part of their names, as a regular expression. */
  readonly faults: string;
  /** The test that is to see it; the seeds without. */
  readonly test?: string;
}

const APPENDING = 'server/stores/redis/scripts/append.ts';
const FROZEN = 'stands still|longer than';

const MUTANTS: readonly Mutant[] = [
  {
    name: 'no fence',
    file: APPENDING,
    edits: [
      [
        'if meta[1] ~= epoch or meta[2] ~= term then\n  -- The writer',
        'if meta[1] ~= epoch then\n  -- The writer',
      ],
      ["if batch ~= tonumber(meta[3]) + 1 then return {'R', tonumber(meta[3])} end", ''],
    ],
    faults: FROZEN,
  },
  {
    name: 'no key check',
    file: APPENDING,
    edits: [["if isOpen or isEnded then return {'K'", "if false then return {'K'"]],
    faults: '',
  },
  {
    name: 'resends written again',
    file: APPENDING,
    edits: [
      ["if batch <= tonumber(meta[3]) then return {'D', tonumber(meta[4]), head} end", ''],
      ['if batch ~= tonumber(meta[3]) + 1 then', 'if batch > tonumber(meta[3]) + 1 then'],
    ],
    faults: 'again and again',
  },
  {
    name: 'a term that is not raised',
    file: 'server/stores/redis/scripts/hold.ts',
    edits: [["given ~= '' and given or termAfter(meta[2], random)", 'meta[2] or termAfter(meta[2], random)']],
    faults: FROZEN,
  },
  {
    name: 'a view that judges from memory',
    file: 'server/delivery/start.ts',
    edits: [['if (!start.gap || isFresh) return start;', 'return start;']],
    faults: FROZEN,
  },
  {
    name: 'a run that is indexed behind its batch',
    file: 'server/stores/redis/writer.ts',
    edits: [
      [
        '    if (sent.runId !== undefined) await this.#indexRun(log, sent.runId);\n    const answer',
        '    const answer',
      ],
      [
        '    const result = this.#resultOf(log, answer);\n    if (answer[0] ===',
        '    if (sent.runId !== undefined) await this.#indexRun(log, sent.runId);\n    const result = this.#resultOf(log, answer);\n    if (answer[0] ===',
      ],
    ],
    faults: '',
    test: 'test/contract/line/redis.slow.test.ts',
  },
  {
    name: 'a retake that is left out',
    file: 'server/sessions/holding.ts',
    edits: [['    if (this.#retaking) return;\n', '    if (this.#retaking || !this.isLost) return;\n']],
    faults: '',
    test: 'test/cluster/lost-answers.test.ts',
  },
  {
    name: 'doubt that a second refusal takes',
    file: 'server/stores/redis/link.ts',
    edits: [['writes && isDoubtful ?', 'writes && passes && isDoubtful ?']],
    faults: '',
    test: 'test/contract/line/redis.slow.test.ts',
  },
];

const SEEDS = process.env.CHAOS_SEEDS ?? '6';

/** The first violations that were found, or null where none were. */
function caught({
  name,
  file,
  edits,
  faults,
  test = 'test/chaos/seeds.long.test.ts',
}: Mutant): string | null {
  const tree = mkdtempSync(join(tmpdir(), 'mutant-'));
  try {
    for (const part of [
      'server',
      'shared',
      'client',
      'test',
      'package.json',
      'tsconfig.json',
      '.mocharc.json',
    ])
      cpSync(join(ROOT, part), join(tree, part), { recursive: true });
    symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
    const mutated = edits.reduce(
      (text, [find, replace]) => {
        if (text.split(find).length !== 2) throw new Error(`${file} has this not once: ${find}`);
        return text.replace(find, () => replace);
      },
      readFileSync(join(tree, file), 'utf8'),
    );
    writeFileSync(join(tree, file), mutated);
    const { stdout, status } = spawnSync(
      process.execPath,
      ['node_modules/mocha/bin/mocha.js', '--bail', '--timeout', '20000', test],
      {
        cwd: tree,
        encoding: 'utf8',
        env: { ...process.env, CHAOS_STORES: 'redis', CHAOS_SEEDS: SEEDS, CHAOS_FAULTS: faults },
      },
    );
    // Of the difference that the assertion prints: what was found, where nothing was to be. Else the title of what failed.
    const found = [...stdout.matchAll(/^ +- +"(.*)"|AssertionError: (.* request .*)$|^ {2,}1\) (.*)$/gm)]
      .map((match) => match.slice(1).find((part) => part !== undefined)!)
      .slice(0, 3);
    if (found.length === 0 && status !== 0) throw new Error(`${name} could not be tried:\n${stdout}`);
    return found.length > 0 ? found.join('; ') : null;
  } finally {
    rmSync(tree, { recursive: true, force: true });
  }
}

const names = process.argv.slice(2);
for (const mutant of MUTANTS.filter(({ name }) => names.length === 0 || names.includes(name))) {
  const violation = caught(mutant);
  console.log(`${mutant.name}: ${violation === null ? 'NOT CAUGHT' : `caught: ${violation}`}`);
  if (violation === null) process.exitCode = 1;
}
