/** Describes what needs a program. Where there is none the tests are skipped, with a line that says so; where `CI` is set that is a failure. */
export function describeWith(
  program: { readonly name: string; readonly isThere: boolean },
  title: string,
  tests: (this: Mocha.Suite) => void,
): void {
  if (program.isThere) return void describe(title, tests);
  describe(title, () => {
    it(`needs ${program.name}`, function () {
      if (process.env.CI) throw new Error(`${program.name} is not installed`);
      this.skip();
    });
  });
}
