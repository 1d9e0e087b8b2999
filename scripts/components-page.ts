import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, extname, join, resolve } from 'node:path';
import { build } from 'vite';

const ROOT = resolve(import.meta.dirname, '..');
const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
};

/** What `add` can be asked for. */
export const COMPONENTS = ['chat', 'sessions', 'inbox', 'share', 'runs'] as const;

/** The folders with stylesheets, each after those that it builds on. */
const STYLES = ['ui', 'message', 'runs', 'chat', 'sessions', 'inbox', 'share'] as const;

/** The page that docs/components.md shows. */
const pageOfDocs = (): string =>
  /```jsx\n([\s\S]*?)```/.exec(readFileSync(join(ROOT, 'docs/components.md'), 'utf8'))![1]!;

const FILES: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ name: 'page', private: true, type: 'module' }),
  'tsconfig.json': JSON.stringify({ compilerOptions: { jsx: 'react-jsx' } }),
  'index.html':
    '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Support</title>' +
    '<header><h1>Support</h1></header><div id="root"></div><script type="module" src="/src/main.jsx"></script></html>',
  // A formula's library, as a page would load one.
  'src/maths.jsx': `export default function Maths({ text, isBlock }) {
  return isBlock ? <div className="formula">{text}</div> : <i className="formula">{text}</i>;
}
`,
  'src/main.jsx': `import { lazy, StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { AroundProvider } from './components/ui/around.js';
import { Page } from './page.jsx';
import './page.css';
${STYLES.map((name) => `import './components/${name}/${name}.css';\n`).join('')}const Maths = lazy(() => import('./maths.jsx'));
const around = location.search === '?around'
  ? { aloud: true, maths: (text, isBlock) => <Maths text={text} isBlock={isBlock} /> }
  : {};
createRoot(document.getElementById('root')).render(
  <StrictMode><AroundProvider value={around}><Page /></AroundProvider></StrictMode>,
);
`,
  'src/page.jsx': pageOfDocs(),
  'src/page.css': `:root { font: 15px/1.5 system-ui, sans-serif; }
body { max-width: 66rem; margin: 0 auto; padding: 0 1.5rem 1.5rem; }
h1 { font-size: 1.2rem; }
#root { display: grid; grid-template-columns: minmax(15rem, 1fr) 3fr; gap: 2rem; align-items: start; }
aside, main { display: grid; gap: 1.2rem; min-width: 0; }
@media (max-width: 50rem) { #root { grid-template-columns: minmax(0, 1fr); } }
`,
};

/** What answers the path of a request: a file of the page, and else its document. */
export type PageFiles = (path: string) => { readonly type: string; readonly body: Buffer };

/** Makes a fresh Vite project around components that `add` has copied into its `src/components`, and builds it. */
export async function buildComponentsPage(folder: string): Promise<PageFiles> {
  for (const [path, text] of Object.entries(FILES)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  mkdirSync(join(folder, 'node_modules'), { recursive: true });
  for (const name of [
    'react',
    'react-dom',
    'marked',
    'highlight.js',
    'lucide-react',
    'agent-session-gateway',
  ]) {
    const target = name === 'agent-session-gateway' ? ROOT : join(ROOT, 'node_modules', name);
    symlinkSync(target, join(folder, 'node_modules', name));
  }
  await build({
    root: folder,
    configFile: false,
    logLevel: 'error',
    // Else as Vite builds by default. Its polyfill is looked for beside the project, which has no Vite of its own.
    build: { modulePreload: false },
  });
  return (path) => {
    const asset = /^\/assets\/[\w.-]+$/.test(path) ? path : '/index.html';
    return { type: TYPES[extname(asset)]!, body: readFileSync(join(folder, 'dist', asset)) };
  };
}
