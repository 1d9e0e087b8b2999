import react from '@vitejs/plugin-react';
import { defineConfig, loadEnv } from 'vite';

export default defineConfig(({ mode }) => {
  const { PORT = '3000', PAGE_PORT = '5173' } = loadEnv(mode, process.cwd(), '');
  const server = `http://127.0.0.1:${PORT}`;
  return {
    plugins: [react()],
    build: { outDir: 'dist/web' },
    server: {
      port: Number(PAGE_PORT),
      strictPort: true,
      // The page and the gateway have one origin, as in production; `ws` passes WebSockets on as well.
      proxy: { '/agent': { target: server, ws: true }, '/visitor': server },
    },
  };
});
