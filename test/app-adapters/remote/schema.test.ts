import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import * as z from 'zod';
import { lineSchema, sliceSchema } from '../../../server/app-adapters/remote/lines.js';
import { ROOT } from '../../support/program.js';

/** A schema as the file has it. */
function documentOf(schema: z.ZodType): object {
  const { $schema: _version, ...rest } = z.toJSONSchema(schema, { io: 'input' });
  return rest;
}

describe('conformance/app-protocol.schema.json', () => {
  it('has the schemas by which the gateway reads lines, and writes slices', () => {
    const { $defs } = JSON.parse(readFileSync(join(ROOT, 'conformance/app-protocol.schema.json'), 'utf8'));
    expect($defs).to.deep.equal({ Slice: documentOf(sliceSchema), Line: documentOf(lineSchema) });
  });
});
