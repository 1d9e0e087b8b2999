/** How many tests of a run of mocha passed and failed. One that ran none, or that ended without saying how many fail, has failed. */
export function resultOf({ stdout, status }) {
  const passed = lastNumber(stdout, 'passing');
  const failed = lastNumber(stdout, 'failing');
  const isWhole = passed > 0 && (status === 0 || failed > 0);
  return { passed, failed: isWhole ? failed : Math.max(failed, 1) };
}

/** The numbers of all, the way mocha writes them: `.ci/run` takes the last ones. */
export function summaryOf(results) {
  const sum = (key) => results.reduce((all, one) => all + one[key], 0);
  return `\n  ${sum('passed')} passing\n  ${sum('failed')} failing\n`;
}

function lastNumber(text, what) {
  return Number([...text.matchAll(new RegExp(`^ +(\\d+) ${what}`, 'gm'))].at(-1)?.[1] ?? 0);
}
