// Mocha's own report, and what the runner has to know of each test and hook: its file, how long it took, and whether it failed.
const { writeFileSync } = require('node:fs');
const { reporters } = require('mocha');

module.exports = class Reporter extends reporters.Spec {
  constructor(runner, options) {
    super(runner, options);
    const results = [];
    const add = (state) => (test) => {
      const { file, title, duration: ms = 0 } = test;
      results.push({ state, file, title, path: test.fullTitle?.() ?? title, ms });
    };
    runner.on('pass', add('passed'));
    runner.on('fail', add('failed'));
    runner.on('hook end', add('hook'));
    runner.on('end', () => writeFileSync(process.env.TEST_RESULTS, JSON.stringify(results)));
  }
};
