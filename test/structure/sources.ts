import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, posix, relative, sep } from 'node:path';
import { ROOT } from '../support/program.js';

/** One import of a file. */
export interface Import {
  /** Path from the root for a file of ours, the specifier itself otherwise. */
  readonly target: string;
  readonly typeOnly: boolean;
  readonly ours: boolean;
}

export interface SourceFile {
  /** Path from the root, with slashes. */
  readonly path: string;
  readonly text: string;
  readonly imports: readonly Import[];
}

const FROM = /^(?:import|export)\s+(type\s+)?[^'";]*?\sfrom\s+'([^']+)'/gm;
const BARE = /^import\s+'([^']+)'/gm;
const DYNAMIC = /\bimport\('([^']+)'\)/g;

/** The TypeScript files below some folders, with their imports. */
export function readSources(...folders: string[]): SourceFile[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => !entry.parentPath.includes('node_modules'))
      .filter((entry) => entry.isFile() && /\.[mc]?[jt]sx?$/.test(entry.name))
      .map((entry) => {
        const file = join(entry.parentPath, entry.name);
        const path = relative(ROOT, file).split(sep).join('/');
        const text = readFileSync(file, 'utf8');
        return { path, text, imports: importsOf(path, text) };
      }),
  );
}

export function importsOf(path: string, text: string): Import[] {
  const resolve = (specifier: string, typeOnly: boolean): Import => {
    const ours = specifier.startsWith('.');
    const target = ours ? posix.join(dirname(path), specifier).replace(/\.js$/, '.ts') : specifier;
    return { target, typeOnly, ours };
  };
  return [
    ...[...text.matchAll(FROM)].map(([, type, specifier]) => resolve(specifier!, type !== undefined)),
    ...[...text.matchAll(BARE)].map(([, specifier]) => resolve(specifier!, false)),
    // `typeof import('x')` is a type, `await import('x')` is not; counting both as imports is on the safe side.
    ...[...text.matchAll(DYNAMIC)].map(([, specifier]) => resolve(specifier!, false)),
  ];
}

/** The package of a bare specifier. */
export function packageOf(specifier: string): string {
  const parts = specifier.split('/');
  return specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0]!;
}

/** What imports what between folders: those below a root, each feature of the server, and the files that lie beside them. */
export function folderGraph(files: readonly SourceFile[]): Map<string, Set<string>> {
  const nodeOf = (path: string): string => /^(?:server\/features|[^/]+)\/[^/]+\//.exec(path)?.[0] ?? path;
  const graph = new Map<string, Set<string>>();
  for (const { path, imports } of files) {
    const from = nodeOf(path);
    const targets = graph.get(from) ?? new Set<string>();
    graph.set(from, targets);
    for (const { ours, target } of imports) if (ours && nodeOf(target) !== from) targets.add(nodeOf(target));
  }
  return graph;
}

/** The groups of folders that import each other in a circle, types included; files of one folder may. */
export function findFolderCycles(files: readonly SourceFile[]): string[][] {
  const graph = folderGraph(files);
  const reached = (from: string): Set<string> => {
    const seen = new Set<string>();
    const open = [...(graph.get(from) ?? [])];
    for (let next = open.pop(); next !== undefined; next = open.pop()) {
      if (seen.has(next)) continue;
      seen.add(next);
      open.push(...(graph.get(next) ?? []));
    }
    return seen;
  };
  const reach = new Map([...graph.keys()].map((node) => [node, reached(node)]));
  const groups = [...graph.keys()]
    .filter((node) => reach.get(node)!.has(node))
    .map((node) => [...reach.get(node)!].filter((other) => reach.get(other)?.has(node)).sort())
    .filter((group) => group.some((node) => node.endsWith('/')));
  return [...new Map(groups.map((group) => [group.join(), group])).values()];
}

/** Import cycles that exist at run time, as paths; empty when there are none. */
export function findCycles(files: readonly SourceFile[]): string[][] {
  const edges = new Map(
    files.map(({ path, imports }) => [
      path,
      imports.filter(({ ours, typeOnly }) => ours && !typeOnly).map(({ target }) => target),
    ]),
  );
  const done = new Set<string>();
  const cycles: string[][] = [];
  const visit = (path: string, trail: string[]): void => {
    const at = trail.indexOf(path);
    if (at >= 0) cycles.push([...trail.slice(at), path]);
    if (at >= 0 || done.has(path)) return;
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of edges.keys()) visit(path, []);
  return cycles;
}
