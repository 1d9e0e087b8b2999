import { setTimeout as delay } from 'node:timers/promises';
import { defineApp, tool, toolResult } from '../../../server/index.js';

const PNG =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg==';
const WAV = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=';

/** The tools that the MCP conformance suite calls. */
export const conformanceApp = defineApp({
  description: 'What the conformance suite asks for',
  run: (turn) => turn.text,
  tools: {
    test_simple_text: tool({
      description: 'Text',
      handler: () => 'This is a simple text response for testing.',
    }),
    test_image_content: tool({
      description: 'An image',
      handler: () => toolResult({ content: [{ type: 'image', mediaType: 'image/png', data: PNG }] }),
    }),
    test_audio_content: tool({
      description: 'A sound',
      handler: () => toolResult({ content: [{ type: 'audio', mediaType: 'audio/wav', data: WAV }] }),
    }),
    test_embedded_resource: tool({
      description: 'A resource',
      handler: () =>
        toolResult({
          content: [
            {
              type: 'resource',
              uri: 'test://embedded-resource',
              mediaType: 'text/plain',
              text: 'This is an embedded resource content.',
            },
          ],
        }),
    }),
    test_multiple_content_types: tool({
      description: 'Several kinds of content',
      handler: () =>
        toolResult({
          content: [
            { type: 'text', text: 'Multiple content types test:' },
            { type: 'image', mediaType: 'image/png', data: PNG },
            {
              type: 'resource',
              uri: 'test://mixed-content-resource',
              mediaType: 'application/json',
              text: JSON.stringify({ test: 'data', value: 123 }),
            },
          ],
        }),
    }),
    test_error_handling: tool({
      description: 'An error',
      handler: () =>
        toolResult({
          content: [{ type: 'text', text: 'This tool intentionally returns an error for testing' }],
          isError: true,
        }),
    }),
    // The suite's own protocol has the pauses.
    test_tool_with_progress: tool({
      description: 'Reports progress',
      handler: async (_input, { progress }) => {
        for (const value of [0, 50]) {
          progress(value, 100);
          await delay(50);
        }
        progress(100, 100);
        return 'done';
      },
    }),
    json_schema_2020_12_tool: tool({
      description: 'Tool with JSON Schema 2020-12 features',
      schema: {
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        $defs: {
          address: {
            $anchor: 'addressDef',
            type: 'object',
            properties: { street: { type: 'string' }, city: { type: 'string' } },
          },
        },
        properties: {
          name: { type: 'string' },
          address: { $ref: '#/$defs/address' },
          contactMethod: { type: 'string', enum: ['phone', 'email'] },
          phone: { type: 'string' },
          email: { type: 'string' },
        },
        allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
        if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
        // biome-ignore lint/suspicious/noThenProperty: the keyword of JSON Schema.
        then: { required: ['phone'] },
        else: { required: ['email'] },
        additionalProperties: false,
      },
      handler: ({ name }: { name?: string }) => `Hello ${name ?? 'you'}`,
    }),
  },
});
