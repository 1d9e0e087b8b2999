import { measureTypeCost } from '../test/types/type-cost.js';

/** What a client project with a thousand methods and two hundred calls costs the type checker: `npx tsx bench/type-cost.ts`. */
for (const shape of ['mixed', 'deep', 'generated'] as const) {
  const { instantiations, checkSeconds } = await measureTypeCost(shape);
  console.log(
    `${shape.padEnd(10)} ${String(instantiations).padStart(8)} instantiations  ${checkSeconds} s check`,
  );
}
