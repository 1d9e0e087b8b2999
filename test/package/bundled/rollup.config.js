import commonjs from '@rollup/plugin-commonjs';
import { nodeResolve } from '@rollup/plugin-node-resolve';

export default {
  input: 'main.js',
  output: { dir: 'rollup' },
  external: [/^@modelcontextprotocol\//, '@redis/client', 'libsql', 'pg', 'prom-client'],
  plugins: [nodeResolve({ preferBuiltins: true }), commonjs()],
};
