import type { compile, Options } from 'json-schema-to-typescript';
import { loadPeer } from '../runtime/optional-peer.js';
import { plainSchema } from './plain-schema.js';
import type { Names } from './text.js';

/** Types declared for a schema. */
export interface SchemaType {
  /** What to write where the type is meant; `unknown` where there is no schema or it could not be converted. */
  readonly name: string;
  /** Declarations that the name needs; may be empty. */
  readonly code: string;
  /** What the type does not say, and why. */
  readonly problems: readonly string[];
}

const OPTIONS: Partial<Options> = {
  bannerComment: '',
  additionalProperties: false,
  // Callers hold arrays, whose lengths their types do not know.
  ignoreMinAndMaxItems: true,
  style: { singleQuote: true, printWidth: 110, bracketSpacing: true, trailingComma: 'all' },
  // The schemas it gets have no such references; if one had, it would be neither read nor fetched.
  $refOptions: { resolve: { external: false, file: false, http: false } },
};

/** Loads what writes types of schemas. Only this command needs it, and it brings a formatter along. */
const loadConverter = () =>
  loadPeer('json-schema-to-typescript', 'generate', () => import('json-schema-to-typescript'));

/**
 * Declares the type of a JSON Schema. What cannot be converted is `unknown`, with a problem.
 *
 * @throws GatewayError `INTERNAL` naming the package to install, when the converter is missing
 */
export async function schemaType(schema: unknown, wanted: string, names: Names): Promise<SchemaType> {
  if (schema === null || schema === undefined) return { name: 'unknown', code: '', problems: [] };
  const name = names.take(wanted);
  const converter = await loadConverter();
  try {
    const plain = plainSchema(schema, name, names);
    const code = (
      await converter.compile(plain.schema as Parameters<typeof compile>[0], name, OPTIONS)
    ).trim();
    return { name, code, problems: plain.problems };
  } catch (error) {
    const problem = error instanceof Error ? error.message.split('\n', 1)[0]! : 'its converter failed';
    return { name: 'unknown', code: '', problems: [problem] };
  }
}
