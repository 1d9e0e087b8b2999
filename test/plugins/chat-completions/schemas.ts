import { Ajv } from 'ajv';

const usage = {
  type: 'object',
  required: ['prompt_tokens', 'completion_tokens', 'total_tokens'],
  properties: {
    prompt_tokens: { type: 'integer', minimum: 0 },
    completion_tokens: { type: 'integer', minimum: 0 },
    total_tokens: { type: 'integer', minimum: 0 },
    prompt_tokens_details: {
      type: 'object',
      properties: { cached_tokens: { type: 'integer' }, audio_tokens: { type: 'integer' } },
      additionalProperties: false,
    },
    completion_tokens_details: {
      type: 'object',
      properties: { reasoning_tokens: { type: 'integer' }, audio_tokens: { type: 'integer' } },
      additionalProperties: false,
    },
    // Ours, documented.
    estimated: { const: true },
  },
  additionalProperties: false,
};

const call = {
  type: 'object',
  required: ['id', 'type', 'function'],
  properties: {
    id: { type: 'string', minLength: 1 },
    type: { const: 'function' },
    function: {
      type: 'object',
      required: ['name', 'arguments'],
      properties: { name: { type: 'string' }, arguments: { type: 'string' } },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
};

const head = (object: string) => ({
  id: { type: 'string', pattern: '^chatcmpl-.{8,}$' },
  object: { const: object },
  // Seconds: milliseconds would lie beyond the year 5000.
  created: { type: 'integer', minimum: 1_600_000_000, maximum: 100_000_000_000 },
  model: { type: 'string' },
});
const finishReason = { enum: ['stop', 'length', 'tool_calls', 'content_filter', 'function_call'] };

const completion = {
  type: 'object',
  required: ['id', 'object', 'created', 'model', 'choices'],
  properties: {
    ...head('chat.completion'),
    choices: {
      type: 'array',
      minItems: 1,
      maxItems: 1,
      items: {
        type: 'object',
        required: ['index', 'message', 'finish_reason', 'logprobs'],
        properties: {
          index: { const: 0 },
          finish_reason: finishReason,
          logprobs: { type: 'null' },
          message: {
            type: 'object',
            required: ['role', 'content', 'refusal'],
            properties: {
              role: { const: 'assistant' },
              content: { type: ['string', 'null'] },
              refusal: { type: ['string', 'null'] },
              annotations: { type: 'array', maxItems: 0 },
              tool_calls: { type: 'array', minItems: 1, items: call },
              reasoning_content: { type: 'string' },
            },
            additionalProperties: false,
          },
        },
        additionalProperties: false,
      },
    },
    usage,
  },
  additionalProperties: false,
};

const chunk = {
  type: 'object',
  required: ['id', 'object', 'created', 'model', 'choices'],
  properties: {
    ...head('chat.completion.chunk'),
    choices: {
      type: 'array',
      maxItems: 1,
      items: {
        type: 'object',
        required: ['index', 'delta', 'finish_reason'],
        properties: {
          index: { const: 0 },
          finish_reason: { ...finishReason, enum: [...finishReason.enum, null] },
          logprobs: { type: 'null' },
          delta: {
            type: 'object',
            properties: {
              role: { const: 'assistant' },
              content: { type: ['string', 'null'] },
              refusal: { type: ['string', 'null'] },
              reasoning_content: { type: 'string' },
              tool_calls: {
                type: 'array',
                minItems: 1,
                items: {
                  ...call,
                  required: ['index'],
                  properties: { ...call.properties, index: { type: 'integer', minimum: 0 } },
                },
              },
            },
            additionalProperties: false,
          },
        },
        additionalProperties: false,
      },
    },
    usage: { anyOf: [usage, { type: 'null' }] },
  },
  additionalProperties: false,
};

const model = {
  type: 'object',
  required: ['id', 'object', 'created', 'owned_by'],
  properties: {
    id: { type: 'string' },
    object: { const: 'model' },
    created: { type: 'integer', minimum: 1_600_000_000, maximum: 100_000_000_000 },
    owned_by: { type: 'string' },
  },
  additionalProperties: false,
};

const error = {
  type: 'object',
  required: ['error'],
  properties: {
    error: {
      type: 'object',
      required: ['message', 'type', 'param', 'code'],
      properties: {
        message: { type: 'string', minLength: 1 },
        type: { type: 'string', minLength: 1 },
        param: { type: ['string', 'null'] },
        code: { type: ['string', 'null'] },
      },
      additionalProperties: false,
    },
  },
  additionalProperties: false,
};

/** The vendor's published field lists, as schemas that take no other field. */
const SCHEMAS = {
  completion,
  chunk,
  model,
  models: {
    type: 'object',
    required: ['object', 'data'],
    properties: { object: { const: 'list' }, data: { type: 'array', items: model } },
    additionalProperties: false,
  },
  error,
};

const ajv = new Ajv({ allErrors: true, allowUnionTypes: true });
const validators = Object.fromEntries(
  Object.entries(SCHEMAS).map(([name, schema]) => [name, ajv.compile(schema)]),
);

/** Returns the value if it is what the vendor's API would send. */
export function expectShape<T = any>(shape: keyof typeof SCHEMAS, value: unknown): T {
  const validate = validators[shape]!;
  if (validate(value)) return value as T;
  throw new Error(`${ajv.errorsText(validate.errors)} in ${JSON.stringify(value)}`);
}
