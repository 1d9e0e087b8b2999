import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vite';

const at = (path: string): string => fileURLToPath(new URL(path, import.meta.url));

export default defineConfig({
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
