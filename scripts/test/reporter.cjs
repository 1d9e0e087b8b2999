// Mocha's own report, and what the runner has to know of each test and hook: its file, how long it took, and whether it failed or was left out.
const { writeFileSync } = require('node:fs');
const { reporters } = require('mocha');

module.exports = class Reporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const results = [];
    let last;
    const add = (state) => (test) => {
      const { title, duration: ms = 0 } = test;
      // Hooks of all files are of none: they come with the tests of one.
      const { file = last } = test;
      last = file;
      results.push({ state, file, title, path: test.fullTitle?.() ?? title, ms });
    };
    runner.on('pass', add('passed'));
    runner.on('fail', add('failed'));
    runner.on('pending', add('skipped'));
    runner.on('hook end', add('hook'));
    runner.on('end', () => writeFileSync(process.env.TEST_RESULTS, JSON.stringify(results)));
  }
};
