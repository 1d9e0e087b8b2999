import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, posix } from 'node:path';
import ts from 'typescript5';
import { BLOCKS, type Block } from '../support/pages.js';
import { ROOT } from '../support/program.js';

/** What `world.ts` gives to blocks that use it and declare nothing of the kind themselves. */
const GIVEN = new Set(['app', 'auth', 'client', 'db', 'gateway', 'login', 'model', 'watch']);

const isExported = (node: ts.Statement): boolean =>
  ts.canHaveModifiers(node) &&
  !!ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword);
const isAmbient = (node: ts.Statement): boolean =>
  ts.canHaveModifiers(node) &&
  !!ts.getModifiers(node)?.some(({ kind }) => kind === ts.SyntaxKind.DeclareKeyword);

function namesIn(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) => (ts.isOmittedExpression(element) ? [] : namesIn(element.name)));
}

/** The values that a statement declares. */
function declaredBy(node: ts.Statement): string[] {
  if (ts.isVariableStatement(node))
    return node.declarationList.declarations.flatMap(({ name }) => namesIn(name));
  if ((ts.isFunctionDeclaration(node) || ts.isClassDeclaration(node)) && node.name) return [node.name.text];
  return [];
}

/** The names that a file uses, other than as those of properties. */
function usedIn(file: ts.SourceFile): Set<string> {
  const used = new Set<string>();
  const look = (node: ts.Node): void => {
    const { parent } = node;
    const isMember =
      parent &&
      (ts.isPropertyAccessExpression(parent) || ts.isPropertyAssignment(parent)) &&
      parent.name === node;
    if (ts.isIdentifier(node) && !isMember && !ts.isImportSpecifier(parent) && !ts.isJsxAttribute(parent))
      used.add(node.text);
    ts.forEachChild(node, look);
  };
  look(file);
  return used;
}

function localNames(file: ts.SourceFile): Set<string> {
  const names = new Set<string>();
  const look = (node: ts.Node): void => {
    if (
      (ts.isParameter(node) || ts.isVariableDeclaration(node) || ts.isBindingElement(node)) &&
      ts.isIdentifier(node.name)
    )
      names.add(node.name.text);
    if (ts.isImportSpecifier(node)) names.add(node.name.text);
    if (ts.isPropertySignature(node) && ts.isIdentifier(node.name)) names.add(node.name.text);
    ts.forEachChild(node, look);
  };
  for (const statement of file.statements) if (!isAmbient(statement)) look(statement);
  return names;
}

/**
 * A block as a module: what it uses and does not declare comes from the world, also what it only says to be there (`declare const model`),
 * and all that it declares can be looked at from outside.
 */
export function moduleOf({ code, file }: Block): string {
  const source = ts.createSourceFile(file, code, ts.ScriptTarget.Latest, true);
  const local = localNames(source);
  const given = [...usedIn(source)].filter((name) => GIVEN.has(name) && !local.has(name));
  const supposed = source.statements.filter(
    (node) => isAmbient(node) && declaredBy(node).some((name) => given.includes(name)),
  );
  const kept = supposed.reduceRight(
    (text, node) => text.slice(0, node.getStart()) + text.slice(node.end),
    code,
  );
  const inner = source.statements.filter((node) => !isAmbient(node) && !isExported(node)).flatMap(declaredBy);
  const listed = source.statements
    .filter(ts.isExportDeclaration)
    .flatMap(({ exportClause }) =>
      exportClause && ts.isNamedExports(exportClause) ? [...exportClause.elements] : [],
    )
    .map(({ name }) => name.text);
  const world = posix.join('../'.repeat(file.split('/').length + 1), 'test/docs/world.js');
  return [
    ...(given.length > 0 ? [`import { ${given.join(', ')} } from '${world}';`] : []),
    kept,
    `export { ${inner.filter((name) => !listed.includes(name)).join(', ')} };`,
    '',
  ].join('\n');
}

export const FOLDER = '.cache/docs-blocks';

/** Where a block is written to. */
export const pathOf = ({ file }: Block): string => join(ROOT, FOLDER, file);

/** What a block says of the types of all: it cannot be said twice in one project. */
export const isGlobal = ({ code }: Block): boolean => code.includes('declare module ');

const config = (rest: object) => JSON.stringify({ extends: '../../tsconfig.json', exclude: [], ...rest });

/** For who runs them: their decorators are those of the repository. */
export const RUN_CONFIG = join(ROOT, FOLDER, 'tsconfig.run.json');

/** Writes the compiler's projects: one for these blocks, and one for each that says something of the types of all. */
export function writeProjects(blocks: readonly Block[]): string[] {
  const compilerOptions = { noUnusedLocals: false, noEmit: true, jsx: 'react-jsx' };
  const filesOf = (some: readonly Block[]): string[] => some.map(({ file }) => file);
  const global = filesOf(blocks.filter(isGlobal));
  const projects = [
    { files: filesOf(blocks.filter((block) => !isGlobal(block))), include: [] },
    ...global.map((file) => ({ files: [file, '../../server/index.ts'], include: [] })),
  ];
  return projects.map((project, at) => {
    const path = join(ROOT, FOLDER, `tsconfig.${at}.json`);
    writeFileSync(path, config({ compilerOptions, ...project }));
    return path;
  });
}

/** Writes all blocks as modules, each page's into a folder of its own. */
export function writeBlocks(): void {
  rmSync(join(ROOT, FOLDER), { recursive: true, force: true });
  mkdirSync(join(ROOT, FOLDER), { recursive: true });
  writeFileSync(
    RUN_CONFIG,
    config({ include: ['.', '../../test', '../../server', '../../client', '../../shared'] }),
  );
  for (const block of BLOCKS) {
    mkdirSync(dirname(pathOf(block)), { recursive: true });
    writeFileSync(pathOf(block), moduleOf(block));
  }
}
