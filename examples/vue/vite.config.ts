import vue from '@vitejs/plugin-vue';
import { defineConfig } from 'vite';

/** The page and the gateway have one origin; `ws` passes WebSockets on as well. */
const proxy = {
  '/agent': {
    target: process.env.AGENT_URL ?? 'http://127.0.0.1:18789',
    ws: true,
    rewrite: (path: string) => path.replace(/^\/agent/, ''),
  },
};

export default defineConfig({ plugins: [vue()], server: { proxy }, preview: { proxy } });
