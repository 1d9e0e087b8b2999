import { defineApp, tool } from '../../../server/index.js';

const named = (name: string) => tool({ handler: () => `this is ${name}` });

/** An app whose tools say which they are. */
export const abc = defineApp({ run: () => 'unused', tools: { a: named('a'), b: named('b'), c: named('c') } });
