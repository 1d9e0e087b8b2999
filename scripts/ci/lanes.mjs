// Runs steps in lanes, side by side, and adds up what they say.
import { spawn } from 'node:child_process';

/** What a suite says of its tests: in our own words, or in mocha's. */
const OURS = /^(?:[\w,]+: )?(\d+) passed, (\d+) failed/gm;
const PASSING = /^ +(\d+) passing/gm;
const FAILING = /^ +(\d+) failing/gm;
/** Lines of a step that failed which are said once more at the end. */
const TAIL = 150;
/** Milliseconds for what a step says behind its end: a process that it left behind may hold its output open. */
const REST_MS = 5000;

/** Steps that run. Each has a process group, with which all ends that it began. */
const running = new Set();

function endGroup(child) {
  if (!running.delete(child)) return;
  try {
    process.kill(-child.pid, 'SIGKILL');
  } catch {
    // Nothing of it is left.
  }
}

for (const signal of ['SIGINT', 'SIGTERM'])
  process.once(signal, () => {
    for (const child of running) endGroup(child);
    process.exit(1);
  });

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

/** Runs a command. @param minutes A step that has not ended by then hangs, and fails */
function run([command, ...args], minutes) {
  return new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], detached: true });
    running.add(child);
    const said = [];
    let rest;
    const end = (status) => {
      for (const timer of [limit, rest]) clearTimeout(timer);
      endGroup(child);
      for (const stream of [child.stdout, child.stderr]) stream.destroy();
      resolve({ status, said: Buffer.concat(said).toString() });
    };
    const limit = setTimeout(() => {
      said.push(Buffer.from(`\nThis step had not ended after ${minutes} minutes.\n`));
      end('none');
    }, minutes * 60_000);
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => said.push(part));
    child.on('error', (error) => {
      said.push(Buffer.from(String(error)));
      end('none');
    });
    child.on('exit', (status) => {
      endGroup(child);
      rest = setTimeout(end, REST_MS, status);
    });
    child.on('close', end);
  });
}

function countsIn(said) {
  const last = (pattern) => [...said.matchAll(pattern)].at(-1)?.slice(1).map(Number);
  return last(OURS) ?? [last(PASSING)?.[0] ?? 0, last(FAILING)?.[0] ?? 0];
}

/** Runs a step, prints what it said with the time it took, and says what it counted. */
async function outcomeOf({ command, isSuite, mayBegin }, minutes) {
  await mayBegin;
  // Where all is cut off, its last lines say what had not ended.
  console.log(`== ${command.join(' ')} begins`);
  const begun = performance.now();
  const { status, said } = await run(command, minutes);
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
 * @param minutes The most that a step may take. Default: a day
 */
export async function runPhases(phases, minutes = 24 * 60) {
  const outcomes = [];
  for (const lanes of phases)
    await Promise.all(
      lanes.map(async (steps) => {
        for (const step of steps) {
          outcomes.push(await outcomeOf(step, minutes));
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
