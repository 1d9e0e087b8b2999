import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * The page needs nothing of marked but its lexer. The rest of its file sets properties as it is loaded, so that no bundler may leave it out.
 *
 * @throws Error where another version of marked is written otherwise
 */
const lexerOfMarked: Plugin = {
  name: 'lexer-of-marked',
  transform(code, id) {
    if (!id.includes('/marked/lib/')) return;
    const lexer = code.replace(
      /var (\w+)=new \w+;function \w+\(\w+,\w+\)\{return \1\.parse\([\s\S]*export\{[\s\S]*?(\w+ as Lexer)\b[\s\S]*?\};/,
      'export{$2};',
    );
    if (lexer === code) throw new Error('marked is not written as it was: see playground/vite.config.ts');
    return { code: lexer, map: null };
  },
};

export default defineConfig({
  plugins: [lexerOfMarked],
  root: at('.'),
  // The page is served below any mount.
  base: './',
  publicDir: false,
  resolve: {
    alias: [{ find: /^agent-session-gateway\/(.*)$/, replacement: `${at('..')}/$1/index.ts` }],
  },
  build: {
    assetsDir: '_playground',
    target: 'es2022',
    modulePreload: { polyfill: false },
    // A page that may load nothing from `data:` but images.
    assetsInlineLimit: 0,
    emptyOutDir: true,
    // Of what is bundled; they ask to be named.
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      // The hooks say that they belong in clients: here is nothing else.
      onwarn: (warning, say) => warning.code === 'MODULE_LEVEL_DIRECTIVE' || say(warning),
    },
  },
});
