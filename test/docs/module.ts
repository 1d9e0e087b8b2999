import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import ts from 'typescript5';
import { BLOCKS, type Block } from '../support/pages.js';
import { ROOT } from '../support/program.js';
import { packedPaths } from './packed.js';

/** What `world.ts` gives to blocks that import it from a file of that name, or use it and declare nothing of the kind themselves. */
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
  const world = worldFrom(join(ROOT, FOLDER, file));
  return [
    ...(given.length > 0 ? [`import { ${given.join(', ')} } from '${world}';`] : []),
    kept,
    `export { ${inner.filter((name) => !listed.includes(name)).join(', ')} };`,
    '',
  ].join('\n');
}

export const FOLDER = '.cache/docs-blocks';

/** Where the world is, as a file there imports it. */
const worldFrom = (path: string): string =>
  relative(dirname(path), join(ROOT, 'test/docs/world.js')).replaceAll('\\', '/');

/** Where a block is written to. */
export const pathOf = ({ file }: Block): string => join(ROOT, FOLDER, file);

/** What a block says of the types of all: it cannot be said twice in one project. */
export const isGlobal = ({ code }: Block): boolean => code.includes('declare module ');

const config = (rest: object) => JSON.stringify({ extends: '../../tsconfig.json', exclude: [], ...rest });

/** For who runs them: their decorators are those of the repository. */
export const RUN_CONFIG = join(ROOT, FOLDER, 'tsconfig.run.json');

/** Writes the compiler's projects: one for these blocks, and one for each that says something of the types of all. */
export function writeProjects(blocks: readonly Block[]): string[] {
  const paths = packedPaths('types');
  const compilerOptions = { noUnusedLocals: false, noEmit: true, jsx: 'react-jsx', paths };
  const filesOf = (some: readonly Block[]): string[] => some.map(({ file }) => file);
  const global = filesOf(blocks.filter(isGlobal));
  const projects = [
    { files: filesOf(blocks.filter((block) => !isGlobal(block))), include: [] },
    ...global.map((file) => ({ files: [file, ...paths['agent-session-gateway']!], include: [] })),
  ];
  return projects.map((project, at) => {
    const path = join(ROOT, FOLDER, `tsconfig.${at}.json`);
    writeFileSync(path, config({ compilerOptions, ...project }));
    return path;
  });
}

/** What blocks of JavaScript import that is not here, and what their readers have. */
const ELSEWHERE = `
declare module '*.css';
declare module '*.vue';
declare module '@assistant-ui/react';
declare module '@assistant-ui/react-ai-sdk';
declare module '@copilotkit/react-core/v2';
declare const token: string;
declare function keep(): Promise<void>;
declare function work(): Promise<void>;
`;

/** Whether a block has what it uses: a piece of a program that has no imports says nothing of the rest. */
export const isWhole = ({ code }: Block): boolean => /^import /m.test(code);

/** Writes the compiler's project of these blocks of JavaScript, which are checked as those who paste them into an editor have them checked. */
export function writeScripts(scripts: readonly Block[]): string {
  for (const script of scripts) {
    mkdirSync(dirname(pathOf(script)), { recursive: true });
    writeFileSync(pathOf(script), `${script.code}\nexport {};\n`);
  }
  writeFileSync(join(ROOT, FOLDER, 'elsewhere.d.ts'), ELSEWHERE);
  const path = join(ROOT, FOLDER, 'tsconfig.scripts.json');
  const compilerOptions = {
    ...{ allowJs: true, checkJs: true, strict: false, noUnusedLocals: false, noUnusedParameters: false },
    ...{ exactOptionalPropertyTypes: false, noEmit: true, jsx: 'react-jsx' },
    paths: { ...packedPaths('types'), '@ag-ui/client': ['../../test/node_modules/ag-ui-client'] },
    // The components that a page has copied.
    rootDirs: ['components', '../../templates'],
  };
  const files = ['elsewhere.d.ts', ...scripts.filter(isWhole).map(({ file }) => file)];
  writeFileSync(path, config({ compilerOptions, files, include: [] }));
  return path;
}

/** Writes all blocks as modules, each page's into a folder of its own. */
export function writeBlocks(): void {
  rmSync(join(ROOT, FOLDER), { recursive: true, force: true });
  mkdirSync(join(ROOT, FOLDER), { recursive: true });
  writeFileSync(
    RUN_CONFIG,
    config({
      compilerOptions: { paths: packedPaths('default') },
      include: ['.', '../../test', '../../server', '../../client', '../../shared'],
    }),
  );
  for (const block of BLOCKS) {
    mkdirSync(dirname(pathOf(block)), { recursive: true });
    writeFileSync(pathOf(block), moduleOf(block));
  }
  const own = new Set(BLOCKS.map(pathOf));
  for (const block of BLOCKS)
    for (const [, name] of block.code.matchAll(/^import \{ (\w+) \} from '\.\/\1\.js';$/gm)) {
      const path = join(dirname(pathOf(block)), `${name}.ts`);
      if (!GIVEN.has(name!) || own.has(path)) continue;
      writeFileSync(path, `export { ${name} } from '${worldFrom(path)}';\n`);
    }
}
