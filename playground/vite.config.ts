import { fileURLToPath } from 'node:url';
import { defineConfig, type Plugin } from 'vite';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

/**
 * Leaves only the lexer of marked. A bundler cannot drop the rest of the file, because loading it sets properties.
 *
 * @throws Error if another version of marked looks different
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
  // Relative, because the page is served below any mount.
  base: './',
  publicDir: false,
  resolve: {
    alias: [{ find: /^agent-session-gateway\/(.*)$/, replacement: `${at('..')}/$1/index.ts` }],
  },
  build: {
    assetsDir: '_playground',
    target: 'es2022',
    // All of these know nested rules.
    cssTarget: ['chrome123', 'firefox121', 'safari17.5'],
    modulePreload: { polyfill: false },
    // The page's policy allows only images from `data:`.
    assetsInlineLimit: 0,
    emptyOutDir: true,
    // The licenses of bundled packages ask to be included.
    license: { fileName: 'licenses.md' },
    rolldownOptions: {
      // One file for all that several parts have, and not one for each set of them.
      output: { codeSplitting: { groups: [{ name: 'shared', minShareCount: 2 }] } },
      // Ignore `use client` in the hooks: the whole page is a client.
      onwarn: (warning, say) => warning.code === 'MODULE_LEVEL_DIRECTIVE' || say(warning),
    },
  },
});
