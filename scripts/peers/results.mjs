/** How many tests of a run of mocha passed and failed. One that ran none, or that ended without saying how many fail, has failed. */
export function resultOf({ stdout, status }) {
  const passed = lastNumber(stdout, 'passing');
  const failed = lastNumber(stdout, 'failing');
  const isWhole = passed > 0 && (status === 0 || failed > 0);
  return { passed, failed: isWhole ? failed : Math.max(failed, 1) };
}

/** What a run of mocha said of each test that failed; where it did not come to that, its last lines. */
export function failuresOf({ stdout }) {
  const from = [...stdout.matchAll(/^ +\d+ failing.*\n/gm)].at(-1);
  if (from) return stdout.slice(from.index + from[0].length).trim();
  return stdout.trim().split('\n').slice(-20).join('\n');
}

/** The numbers of all, the way mocha writes them, and what failed: `.ci/run` takes the last ones, and what follows them. */
export function summaryOf(results) {
  const sum = (key) => results.reduce((all, one) => all + one[key], 0);
  const broken = results.filter(({ failed }) => failed > 0);
  const said = broken.map(({ title, failures }) => `\n  ${title}\n${failures}\n`).join('');
  return `\n  ${sum('passed')} passing\n  ${sum('failed')} failing\n${said}`;
}

function lastNumber(text, what) {
  return Number([...text.matchAll(new RegExp(`^ +(\\d+) ${what}`, 'gm'))].at(-1)?.[1] ?? 0);
}
