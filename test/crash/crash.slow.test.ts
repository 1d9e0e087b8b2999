import { expect } from 'chai';
import { buildProgram } from '../support/built-program.js';
import { runCommand } from '../support/program.js';
import { socketDirectory } from '../support/socket-directory.js';
import { openDoors } from './doors.js';
import { HOSTILE_VALUES, LARGE } from './hostile-values.js';
import { appPlaces, listenerPlaces, methodPlaces, streamPlaces } from './places.js';

const values = Object.keys(HOSTILE_VALUES).length;
const doors = Object.keys(openDoors).length;
const count = (places: object): number => Object.keys(places).length;

/** How many cells each group has: places × values × doors, and a look at the bystander. */
const GROUPS: Readonly<Record<string, number>> = {
  methods: doors * values * (count(methodPlaces) + count(streamPlaces) + 1) + 1,
  // The large value goes through one door.
  runs: (doors * values - (LARGE in HOSTILE_VALUES ? doors - 1 : 0)) * count(appPlaces) + 1,
  auth: 2 * values * 6,
  hosts: values * (6 + 3 + count(listenerPlaces) + 3) + 1,
};

describe('no value of a host, an app or a caller ends the process, cuts another connection or stays unanswered', () => {
  for (const [group, cells] of Object.entries(GROUPS)) {
    it(`${group}: every place × every value × every door, with the default logger`, async function () {
      this.timeout(900_000);
      const built = await buildProgram('test/crash/program.ts');
      const program = runCommand(process.execPath, { args: [built, group, socketDirectory()] });
      expect(await program.exited, program.output.slice(-2000)).to.equal(0);
      const { cells: run, failures } = JSON.parse(/^OUTCOME (.*)$/m.exec(program.output)![1]!);
      expect(failures).to.deep.equal([]);
      expect(run).to.equal(cells);
      const lines = program.output.split('\n').filter((line) => line.startsWith('{'));
      expect(lines.length, 'log lines').to.be.greaterThan(values);
      for (const line of lines) {
        expect(line.length, line.slice(0, 200)).to.be.lessThan(200_000);
        expect(JSON.parse(line)).to.include.keys('time', 'level', 'message');
        // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
        expect(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(line), line.slice(0, 200)).to.equal(false);
      }
    });
  }
});
