/** Parameters for a custom tool, whose free text an app's model passes as the only argument of a function. */
export const TEXT_INPUT = {
  type: 'object',
  properties: { input: { type: 'string' } },
  required: ['input'],
  additionalProperties: false,
};
