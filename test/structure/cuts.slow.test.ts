import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import ts from 'typescript5';
import { ROOT } from '../support/program.js';
import { textCuts } from './cuts.js';
import { readSources } from './sources.js';

const { config } = ts.parseConfigFileTextToJson(
  'tsconfig.json',
  readFileSync(join(ROOT, 'tsconfig.json'), 'utf8'),
);
const { options } = ts.parseJsonConfigFileContent(config, ts.sys, ROOT);

/** The one place that cuts. */
const CUT = 'shared/cut.ts';

describe('texts', () => {
  it('are cut by `cut` alone, which never halves a character', () => {
    const paths = readSources('server', 'client', 'shared', 'testing')
      .filter(({ path, text }) => path !== CUT && /\.slice\(\s*0\s*,|\.substr(?:ing)?\(/.test(text))
      .map(({ path }) => path);
    expect(paths).to.have.length.above(10);
    expect(
      textCuts(paths, options, ROOT).map(({ path, line, code }) => `${path}:${line} ${code}`),
    ).to.deep.equal([]);
  });

  it('are found where they are cut otherwise, and lists are not', () => {
    const found = textCuts(['test/structure/fixtures/cuts.ts'], options, ROOT);
    expect(found.map(({ code }) => code)).to.deep.equal([
      'text.slice(0, MOST)',
      'text.slice(0, at)',
      'text.trim().slice(0, 4)',
      'text.substring(1)',
      'text.substr(0, 2)',
      'maybe?.slice(0, text.length - 1)',
      'either.slice(0, 2)',
    ]);
  });
});
