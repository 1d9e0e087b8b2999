import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';

type Json = Readonly<Record<string, any>>;

/** Judges values by the schemas of a document. */
export interface DocumentValidator {
  /** What is wrong with a value by the schema at a JSON Pointer of the document; empty when nothing is. */
  faults(pointer: string, value: unknown): readonly string[];
}

/**
 * A validator that is stricter than the document: an object may have the described fields alone, so that what the gateway writes
 * and nobody has described is found. JSON in a string is judged by the schema of the content.
 */
export function strictValidator(document: Json): DocumentValidator {
  const ajv = new Ajv2020({
    strict: false,
    allErrors: true,
    validateFormats: true,
  });
  (formats as unknown as (of: unknown) => void)(ajv);
  ajv.addSchema({ ...(close(document) as Json), $id: 'https://document.test/it' });
  return {
    faults(pointer, value) {
      const validate = ajv.getSchema(`https://document.test/it#${encodeURI(pointer)}`)!;
      return validate(value)
        ? []
        : (validate.errors ?? []).map(
            (error) => `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`,
          );
    },
  };
}

function close(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(close);
  if (typeof node !== 'object' || node === null) return node;
  if ('contentSchema' in node) return close(node.contentSchema);
  const closed: Record<string, unknown> = Object.fromEntries(
    Object.entries(node).map(([key, value]) => [key, close(value)]),
  );
  if (closed.type === 'object' && closed.properties && !('additionalProperties' in closed))
    closed.additionalProperties = false;
  return closed;
}

/** Every reference of a document with whether it leads somewhere in it. */
export function references(document: Json): { readonly ref: string; readonly found: boolean }[] {
  const found: { ref: string; found: boolean }[] = [];
  const visit = (node: unknown): void => {
    if (typeof node !== 'object' || node === null) return;
    for (const [key, value] of Object.entries(node)) {
      if (key === '$ref' && typeof value === 'string')
        found.push({ ref: value, found: lookUp(document, value) !== undefined });
      else visit(value);
    }
  };
  visit(document);
  return found;
}

/** What a local reference leads to. */
export function lookUp(document: Json, ref: string): any {
  if (!ref.startsWith('#/')) return undefined;
  return decodeURI(ref)
    .slice(2)
    .split('/')
    .reduce((node: any, step) => node?.[step.replaceAll('~1', '/').replaceAll('~0', '~')], document);
}
