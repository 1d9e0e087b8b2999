import ts from 'typescript5';

/** A call that may halve a character, with the line where it is. */
export interface TextCut {
  readonly path: string;
  readonly line: number;
  readonly code: string;
}

const CUTS = new Set(['slice', 'substring', 'substr']);
/** The ways to a place in a text that lies beside something that was found there. */
const FINDS = /\b(?:indexOf|lastIndexOf|search|index|start|lastIndex)\b/;

/** The beginnings of strings in some files that are cut elsewhere than where something was found. */
export function textCuts(paths: readonly string[], options: ts.CompilerOptions, root: string): TextCut[] {
  const program = ts.createProgram(
    paths.map((path) => `${root}/${path}`),
    { ...options, noEmit: true, skipLibCheck: true },
  );
  const checker = program.getTypeChecker();
  return paths.flatMap((path) => {
    const file = program.getSourceFile(`${root}/${path}`)!;
    const found: TextCut[] = [];
    const visit = (node: ts.Node): void => {
      if (isCut(node, checker)) {
        const { line } = file.getLineAndCharacterOfPosition(node.getStart(file));
        found.push({ path, line: line + 1, code: node.getText(file) });
      }
      ts.forEachChild(node, visit);
    };
    visit(file);
    return found;
  });
}

function isCut(node: ts.Node, checker: ts.TypeChecker): boolean {
  if (!ts.isCallExpression(node) || !ts.isPropertyAccessExpression(node.expression)) return false;
  const { name, expression } = node.expression;
  if (!CUTS.has(name.text)) return false;
  const type = checker.getNonNullableType(checker.getTypeAtLocation(expression));
  if (!isText(type)) return false;
  if (name.text !== 'slice') return true;
  const [from, to] = node.arguments;
  return from?.getText() === '0' && to !== undefined && !isFound(to, checker);
}

const isText = (type: ts.Type): boolean =>
  type.isUnion() ? type.types.some(isText) : (type.flags & ts.TypeFlags.StringLike) !== 0;

/** Whether a place was found in a text, or is one of those around such a place. */
function isFound(place: ts.Expression, checker: ts.TypeChecker): boolean {
  if (FINDS.test(place.getText())) return true;
  let found = false;
  const visit = (node: ts.Node): void => {
    if (ts.isIdentifier(node))
      for (const declaration of checker.getSymbolAtLocation(node)?.declarations ?? [])
        if (FINDS.test(declaration.getText())) found = true;
    ts.forEachChild(node, visit);
  };
  visit(place);
  return found;
}
