import { expect } from 'chai';
import { COMPILERS, compileFiles } from '../support/compile.js';
import { isToday } from '../support/daily.js';

const WRONG = `
import { createGateway, method } from 'agent-session-gateway';
import { createClient } from 'agent-session-gateway/client';
import { z } from 'zod';

const gateway = createGateway({
  methods: {
    tasks: {
      create: method({ schema: z.object({ title: z.string() }), handler: async () => ({ id: 1 }) }),
      watch: async function* () { yield 1; },
    },
    'tasks:archive': async (params: { before: string }) => params.before,
  },
});
export const client = createClient<typeof gateway>({ baseUrl: '/agent' });
`;

/** One call, and what the compiler says of it. */
const CALLS: readonly (readonly [call: string, said: RegExp])[] = [
  // The paths themselves, not the tree they come from.
  [
    `client.invoke('tasks:creat', { title: 'x' })`,
    /Argument of type '"tasks:creat"' is not assignable to parameter of type '("tasks:(archive|create|watch)"( \| )?){3}'/,
  ],
  [
    `client.invoke('tasks:create', { titel: 'x' })`,
    /'titel' does not exist in type .*Did you mean to write 'title'|but 'titel' does not exist in type/,
  ],
  [
    `client.invoke('tasks:create', { title: 1 })`,
    /^\S+: error TS2322: Type 'number' is not assignable to type 'string'/,
  ],
  [`client.invoke('tasks:create')`, /Expected 2-3 arguments, but got 1/],
  [`client.invoke('tasks:watch')`, /Arguments for the rest parameter 'args'|Expected 2 arguments, but got 1/],
  [`client.invoke('tasks:watch', {})`, /UseInstead<"client\.stream\(\)">/],
  [`client.stream('tasks:archive', { before: 'x' })`, /UseInstead<"client\.invoke\(\)">/],
];

describe('what the compiler says of a wrong call', () => {
  for (const compiler of COMPILERS) {
    // The older one takes several times as long.
    if (compiler === 'typescript5' && !isToday(1, 2)) continue;
    it(`names what is wrong, with ${compiler}`, async () => {
      const calls = CALLS.map(([call], at) => [
        `call${at}.ts`,
        `import { client } from './client.js';\nexport const result = ${call};\n`,
      ]);
      const output = await compileFiles(
        `types-messages-${compiler}`,
        { 'client.ts': WRONG, ...Object.fromEntries(calls) },
        [compiler],
      );
      for (const [at, [call, said]] of CALLS.entries()) {
        const lines = output.split('\n').filter((line) => line.includes(`call${at}.ts`));
        expect(lines, call).to.have.length(1);
        expect(lines[0]!.replace(/ +/g, ' ')).to.match(said);
      }
    });
  }
});
