import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
// @ts-expect-error It has no types.
import { splitReport } from '../../scripts/api-split.mjs';

const ENTRIES = ['one', 'two'].map((report) => ({ report, title: report }));

/** The code of each report, of one of all entries. */
function split(all: string): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), 'api-split-'));
  try {
    const file = join(folder, 'all.d.ts');
    writeFileSync(file, all);
    const reports: Map<string, string> = splitReport(file, ENTRIES);
    return Object.fromEntries(
      [...reports].map(([name, text]) => [name.replace('.api.md', ''), text.split(/^```.*\n/m)[1]!.trim()]),
    );
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const exporting = (one: string, two: string) => `
declare namespace $0 {\n export { ${one} }\n}
declare namespace $1 {\n export { ${two} }\n}
`;

describe('the reports of public types', () => {
  it('say a type once: of the entry that exports it, or of all that do, and with what it uses', () => {
    const { one, two, shared } = split(`
import type { Foreign } from 'foreign';
${exporting('One, both', 'Two, both')}
// @public
interface One {
    // (undocumented)
    readonly hidden: Hidden;
    readonly used: Used;
}

// @public
interface Two extends One {
    readonly used: Used;
}

// @public
interface Hidden extends Foreign {
    readonly Deep: Map<string, Deep>;
}

// @public (undocumented)
interface Deep {}

// @public @deprecated
interface Used {}

function both(): void;
function both(input: string): void;
`);
    expect(one).to.equal(`import type { Foreign } from 'foreign';

interface Deep {}

interface Hidden extends Foreign {
    readonly Deep: Map<string, Deep>;
}

export interface One {
    readonly hidden: Hidden;
    readonly used: Used;
}

export {
    both,
} from 'shared';`);
    expect(two).to.equal(`export interface Two extends One {
    readonly used: Used;
}

export {
    both,
} from 'shared';`);
    expect(shared).to.equal(`// @public @deprecated
interface Used {}

function both(): void;

function both(input: string): void;`);
  });

  it('tell types of one name apart by their entries, however they were numbered', () => {
    const numbered = (one: string, two: string, foreign: string) => `
import type { Same as ${foreign} } from 'foreign';
${exporting(`${one} as Same, First`, `${two} as Same, Second`)}
interface ${one} { readonly Same: 1 }
interface ${two} { readonly Same: 2 }
type First<Same> = Same[];
type Second = [${two}, ${foreign}];
`;
    const reports = split(numbered('Same', 'Same_2', 'Same_3'));
    expect(reports.one).to.equal(`export type First<Same> = Same[];

export interface Same { readonly Same: 1 }`);
    expect(reports.two).to.equal(`import type { Same as Same_two_2 } from 'foreign';

interface Same_two { readonly Same: 2 }

export type Second = [Same_two, Same_two_2];

export {
    Same_two as Same,
};`);
    expect(split(numbered('Same_3', 'Same', 'Same_2'))).to.deep.equal(reports);
  });
});
