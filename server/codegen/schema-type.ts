import type { compile, Options } from 'json-schema-to-typescript';
import { loadPeer } from '../runtime/optional-peer.js';
import { plainSchema } from './plain-schema.js';
import type { Names } from './text.js';

/** Types declared for a schema. */
export interface SchemaType {
  /** The text that refers to the type; `unknown` if there is no schema, or it could not be converted. */
  readonly name: string;
  /** Declarations that the name needs; may be empty. */
  readonly code: string;
  /** Facts that the type does not express, with the reason. */
  readonly problems: readonly string[];
}

const OPTIONS: Partial<Options> = {
  bannerComment: '',
  additionalProperties: false,
  // Callers' arrays have types without lengths.
  ignoreMinAndMaxItems: true,
  style: { singleQuote: true, printWidth: 110, bracketSpacing: true, trailingComma: 'all' },
  // The rewritten schemas have no external references. If one had, it would be neither read nor fetched.
  $refOptions: { resolve: { external: false, file: false, http: false } },
};

/** Loads the converter of schemas. Only this command needs it, and it brings a formatter along. */
const loadConverter = () =>
  loadPeer('json-schema-to-typescript', 'generate', () => import('json-schema-to-typescript'));

/**
 * Declares the type of a JSON Schema. Parts that cannot be converted are `unknown`, with a problem.
 *
 * @throws GatewayError `INTERNAL` naming the package to install, if the converter is missing
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
