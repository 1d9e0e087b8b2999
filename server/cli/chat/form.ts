import { validateJsonSchema } from '../../schema/plain-json-schema.js';

/** The part of a schema by which a value is asked for. */
interface AskedSchema {
  readonly type?: unknown;
  readonly title?: string;
  readonly description?: string;
  readonly enum?: readonly unknown[];
  readonly properties?: Readonly<Record<string, AskedSchema>>;
  readonly required?: readonly string[];
}

/** Yields the prompts for an answer, takes the line that a person wrote after each, and returns what they make. */
export type Form = Generator<string, unknown, string>;

const YES_OR_NO = new Map([
  ['y', true],
  ['yes', true],
  ['n', false],
  ['no', false],
]);

/** Asks for consent, and for a reason where it is withheld. */
export function* consentForm(): Form {
  for (let hint = ''; ; hint = 'Answer y or n; what follows an n is told as the reason.\n') {
    const [, word = '', reason] = /^\s*(\w+)[\s,:]*(.*?)\s*$/.exec(yield `${hint}[y/n] `) ?? [];
    const approved = YES_OR_NO.get(word.toLowerCase());
    if (approved !== undefined) return { approved, ...(reason && { reason }) };
  }
}

/** Asks for a value: field by field where its schema names fields. */
export function* valueForm(schema: AskedSchema = {}, name = 'answer', isNeeded = true): Form {
  const { properties, required = [], type = 'text or JSON', enum: choices, description } = schema;
  if (properties) {
    const output: Record<string, unknown> = {};
    for (const [key, field] of Object.entries(properties))
      output[key] = yield* valueForm(field, field.title ?? key, required.includes(key));
    return output;
  }
  const kind = choices?.map((choice, at) => `${at + 1} ${choice}`).join(', ') ?? type;
  const about = [description, kind, ...(isNeeded ? [] : ['may be empty'])].filter(Boolean).join('; ');
  for (let hint = ''; ; hint = 'That is none.\n') {
    const line = (yield `${hint}${name} (${about}): `).trim();
    if (line === '' && !isNeeded) return undefined;
    const readings = [choices?.[Number(line) - 1], inJson(line), line, YES_OR_NO.get(line.toLowerCase())];
    const value = readings.find((reading) => reading !== undefined && fits(schema, reading));
    if (value !== undefined) return value;
  }
}

/** A text's value in JSON, if it is JSON. */
export function inJson(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

/** Whether a field may have a value. The gateway alone can say so where its schema refers to others. */
function fits(schema: object, value: unknown): boolean {
  try {
    return 'value' in validateJsonSchema(schema as Record<string, unknown>, value);
  } catch {
    return true;
  }
}
