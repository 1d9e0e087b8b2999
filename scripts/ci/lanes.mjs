// Runs steps in lanes, side by side, and adds up what they say.
import { spawn } from 'node:child_process';

/** What a suite says of its tests: in our own words, or in mocha's. */
const OURS = /^(?:[\w,]+: )?(\d+) passed, (\d+) failed/gm;
const PASSING = /^ +(\d+) passing/gm;
const FAILING = /^ +(\d+) failing/gm;
/** Lines of a step that failed which are said once more at the end. */
const TAIL = 150;

function stepOf(command, isSuite) {
  let end;
  const ended = new Promise((resolve) => {
    end = resolve;
  });
  return { command, isSuite, ended, end };
}

/** A step that has no tests of its own. */
export const check = (...command) => stepOf(command, false);
/** A step whose tests are counted; it has failed where none passed. */
export const suite = (...command) => stepOf(command, true);
/** A step that begins once one of another lane has ended. */
export const after = (first, step) => ({ ...step, mayBegin: first.ended });

function run([command, ...args]) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    const said = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => said.push(part));
    child.on('error', (error) => said.push(Buffer.from(String(error))));
    child.on('close', (status) => resolve({ status, said: Buffer.concat(said).toString() }));
  });
}

function countsIn(said) {
  const last = (pattern) => [...said.matchAll(pattern)].at(-1)?.slice(1).map(Number);
  return last(OURS) ?? [last(PASSING)?.[0] ?? 0, last(FAILING)?.[0] ?? 0];
}

/** Runs a step, prints what it said with the time it took, and says what it counted. */
async function outcomeOf({ command, isSuite, mayBegin }) {
  await mayBegin;
  const begun = performance.now();
  const { status, said } = await run(command);
  const seconds = Math.round((performance.now() - begun) / 1000);
  const [passed, failed] = isSuite ? countsIn(said) : [0, 0];
  const isGood = status === 0 && failed === 0 && !(isSuite && passed === 0);
  const title = `== ${command.join(' ')}: ${isGood ? 'good' : `failed (status ${status}, ${passed} passed)`}, ${seconds} s`;
  console.log(`\n${title}\n${said.trimEnd()}`);
  if (isGood) return { passed, failed: 0, failures: [] };
  const tail = said.trimEnd().split('\n').slice(-TAIL).join('\n');
  return { passed, failed: Math.max(1, failed), failures: [`${title}\n${tail}`] };
}

/**
 * Runs phases one after the other, the lanes of each side by side, and the steps of a lane one after the other. Ends the process: its last
 * line is the sum, in which a step that failed counts as a failure.
 */
export async function runPhases(phases) {
  const outcomes = [];
  for (const lanes of phases)
    await Promise.all(
      lanes.map(async (steps) => {
        for (const step of steps) {
          outcomes.push(await outcomeOf(step));
          step.end();
        }
      }),
    );
  const sum = (key) => outcomes.reduce((all, outcome) => all + outcome[key], 0);
  const failures = outcomes.flatMap((outcome) => outcome.failures);
  // Of a long output often only the end is kept.
  if (failures.length > 0) console.log(`\n== what failed\n${failures.join('\n')}`);
  console.log(`${sum('passed')} passed, ${sum('failed')} failed`);
  process.exitCode = sum('failed') === 0 && sum('passed') > 0 ? 0 : 1;
}
