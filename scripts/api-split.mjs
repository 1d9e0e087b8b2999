// Splits API Extractor's report of all entries into one per entry, and one of what they share, so that each type is said once.
// A name that one entry exports is in the report of that entry, a name that several export in the shared one. A type that nobody
// exports is in the report where all types that use it are, or in the shared one.
import ts from '@typescript/typescript6';

const SHARED = 'shared';
// Everything is public, and docstrings have a test of their own.
const NOISE = /^ *\/\/ (@public|\(undocumented\)|@public \(undocumented\))\n/gm;

const inOrder = (a, b) => (a < b ? -1 : a > b ? 1 : 0);

/** The identifiers below a node. */
function identifiersIn(node, found = []) {
  if (ts.isIdentifier(node)) found.push(node);
  ts.forEachChild(node, (child) => {
    identifiersIn(child, found);
  });
  return found;
}

/** The identifier that a statement declares. */
function declaredBy(statement) {
  const { importClause, declarationList } = statement;
  const bindings = importClause?.namedBindings;
  const declared =
    statement.name ??
    declarationList?.declarations[0].name ??
    importClause?.name ??
    bindings?.name ??
    bindings?.elements[0].name;
  if (!declared) throw new Error(`This declares no name: ${statement.getText()}`);
  return declared;
}

/** What the report of all declares, each with where it is at home, and what each entry exports. */
function readReport(file, entries) {
  const program = ts.createProgram([file], { noLib: true, noResolve: true, types: [] });
  const checker = program.getTypeChecker();
  const declarations = new Map();
  const declarationOf = (identifier) =>
    declarations.get(
      ts.isExportSpecifier(identifier.parent)
        ? checker.getExportSpecifierLocalTargetSymbol(identifier.parent)
        : checker.getSymbolAtLocation(identifier),
    );

  const namespaces = [];
  for (const statement of program.getSourceFile(file).statements) {
    const identifier = declaredBy(statement);
    if (/^\$\d+$/.test(identifier.text)) {
      namespaces.push(statement);
      continue;
    }
    const symbol = checker.getSymbolAtLocation(identifier);
    // Overloads, and what TypeScript merges, are one declaration.
    const declaration = declarations.get(symbol) ?? {
      name: identifier.text,
      label: identifier.text,
      isImport: ts.isImportDeclaration(statement),
      isExported: false,
      homes: new Set(),
      statements: [],
    };
    declaration.statements.push(statement);
    declarations.set(symbol, declaration);
  }

  const all = [...declarations.values()];
  for (const declaration of all)
    declaration.uses = declaration.statements
      .flatMap((statement) => identifiersIn(statement))
      .map((identifier) => ({ identifier, used: declarationOf(identifier) }))
      .filter(({ used }) => used);
  const exportsOf = new Map();
  for (const namespace of namespaces) {
    const { report } = entries[namespace.name.text.slice(1)];
    const exported = namespace.body.statements[0].exportClause.elements.map((element) => ({
      name: element.name.text,
      declaration: declarationOf(element.propertyName ?? element.name),
    }));
    for (const { declaration } of exported) {
      declaration.isExported = true;
      declaration.homes.add(report);
    }
    exportsOf.set(
      report,
      exported.sort((a, b) => inOrder(a.name, b.name)),
    );
  }

  const homeOf = ({ homes }) => (homes.size === 1 ? [...homes][0] : SHARED);
  const reach = ({ uses }, home) => {
    for (const { used } of uses) {
      if (used.isExported || used.homes.has(home)) continue;
      used.homes.add(home);
      reach(used, home);
    }
  };
  for (const declaration of all.filter(({ isExported }) => isExported))
    reach(declaration, homeOf(declaration));
  for (const declaration of all) declaration.home = homeOf(declaration);
  return { declarations: all, exportsOf };
}

/**
 * Where several declarations have one name, API Extractor numbers them as it meets them: another entry, or another order of exports,
 * would change reports in which no type has changed. Here the first keeps the name and others are called after their reports.
 */
function nameApart(declarations, order) {
  const groups = new Map();
  for (const declaration of declarations) {
    const base = declaration.name.replace(/_\d+$/, '');
    groups.set(base, [...(groups.get(base) ?? []), declaration]);
  }
  const taken = new Set(declarations.map(({ name }) => name));
  for (const [base, members] of groups) {
    if (members.length === 1) continue;
    members.sort(
      (a, b) => a.isImport - b.isImport || b.isExported - a.isExported || order(a.home) - order(b.home),
    );
    // Nobody keeps the name of a global of the platform.
    if (members.some(({ name }) => name === base)) members.shift().label = base;
    for (const member of members) {
      const label = `${base}_${member.home.replaceAll('-', '_')}`;
      member.label = label;
      for (let at = 2; taken.has(member.label); at++) member.label = `${label}_${at}`;
      taken.add(member.label);
    }
  }
}

/** The text of a statement, with the names that were told apart. */
function textOf(statement, { uses }, isExported) {
  const start = statement.getFullStart();
  const edits = uses
    .filter(({ identifier, used }) => identifier.text !== used.label)
    .filter(({ identifier }) => identifier.pos >= start && identifier.end <= statement.end)
    .map(({ identifier, used }) => {
      const imports = ts.isImportSpecifier(identifier.parent) && !identifier.parent.propertyName;
      const text = imports ? `${identifier.text} as ${used.label}` : used.label;
      return { from: identifier.getStart(), to: identifier.end, text };
    });
  if (isExported) edits.push({ from: statement.getStart(), to: statement.getStart(), text: 'export ' });
  edits.sort((a, b) => b.from - a.from);
  let text = statement.getFullText();
  for (const { from, to, text: put } of edits)
    text = text.slice(0, from - start) + put + text.slice(to - start);
  return text.trim().replace(NOISE, '');
}

const listOf = (exported, from = '') => {
  const names = exported.map(({ name, declaration: { label } }) =>
    label === name ? `    ${name},\n` : `    ${label} as ${name},\n`,
  );
  return names.length > 0 ? [`export {\n${names.join('')}}${from};`] : [];
};

/** What a report holds: imports, declarations, and the exports that stand at no declaration. */
function blocksOf(report, declarations, exported) {
  const isHere = ({ declaration }) => declaration.home === report;
  const isInline = (one) => isHere(one) && !one.declaration.isImport && one.name === one.declaration.label;
  const inline = new Set(exported.filter(isInline).map(({ declaration }) => declaration));
  const textsOf = (isImport) =>
    declarations
      .filter((declaration) => declaration.home === report && declaration.isImport === isImport)
      .flatMap((one) => one.statements.map((statement) => textOf(statement, one, inline.has(one))));
  const rest = exported.filter((one) => !isInline(one));
  const shared = rest.filter((one) => !isHere(one));
  const imports = textsOf(true);
  return [
    ...(imports.length > 0 ? [imports.join('\n')] : []),
    ...textsOf(false),
    ...listOf(rest.filter(isHere)),
    ...listOf(shared, ` from '${SHARED}'`),
  ];
}

/** The reports, by the names of their files. `file` has API Extractor's report, in which namespace `$n` is the entry `entries[n]`. */
export function splitReport(file, entries) {
  const { declarations, exportsOf } = readReport(file, entries);
  const reports = [{ report: SHARED, title: 'What several entries share' }, ...entries];
  nameApart(declarations, (home) => reports.findIndex(({ report }) => report === home));
  declarations.sort((a, b) => inOrder(a.label, b.label));
  return new Map(
    reports.map(({ report, title }) => [
      `${report}.api.md`,
      [
        `# ${title}`,
        `> Written by \`npm run api\`. Each type is in one report: of the entry that alone exports it, or in \`${SHARED}.api.md\`.`,
        `\`\`\`ts\n${blocksOf(report, declarations, exportsOf.get(report) ?? []).join('\n\n')}\n\`\`\`\n`,
      ].join('\n\n'),
    ]),
  );
}
