import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript5';
import { ROOT } from '../support/program.js';

/** A name that the package exports. */
export interface PublicName {
  /** The entry's subpath. */
  readonly entry: string;
  readonly name: string;
  /** What its docstring says; empty without one. */
  readonly text: string;
  /** The code of its `@example` blocks. */
  readonly examples: readonly string[];
}

/** Every name that the built package exports, with its documentation, from the declarations that users get. */
export function publicNames(): PublicName[] {
  const { exports } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const entries = Object.entries<{ readonly types?: string }>(exports).filter(([, { types }]) => types);
  const fileOf = (types: string): string => join(ROOT, types);
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2022,
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    skipLibCheck: true,
    types: ['node'],
  };
  const program = ts.createProgram(
    entries.map(([, { types }]) => fileOf(types!)),
    options,
  );
  const checker = program.getTypeChecker();
  return entries.flatMap(([entry, { types }]) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(fileOf(types!))!)!;
    return checker.getExportsOfModule(module).map((exported) => {
      const symbol = exported.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(exported) : exported;
      const examples = symbol
        .getJsDocTags(checker)
        .filter(({ name }) => name === 'example')
        .map(({ text }) => ts.displayPartsToString(text));
      return {
        entry,
        name: exported.name,
        text: ts.displayPartsToString(symbol.getDocumentationComment(checker)),
        examples,
      };
    });
  });
}
