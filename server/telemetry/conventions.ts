/** The version of OpenTelemetry's semantic conventions for all names. It is pinned, because those of GenAI are not stable yet. */
export const CONVENTIONS_VERSION = '1.45.0';

/** Names of the conventions. A test compares them with `@opentelemetry/semantic-conventions` of that version. */
export const CONVENTIONS = {
  ATTR_ERROR_TYPE: 'error.type',
  ATTR_USER_ID: 'user.id',
  ATTR_RPC_METHOD: 'rpc.method',
  ATTR_GEN_AI_OPERATION_NAME: 'gen_ai.operation.name',
  ATTR_GEN_AI_AGENT_NAME: 'gen_ai.agent.name',
  ATTR_GEN_AI_CONVERSATION_ID: 'gen_ai.conversation.id',
  ATTR_GEN_AI_OUTPUT_MESSAGES: 'gen_ai.output.messages',
  ATTR_GEN_AI_PROVIDER_NAME: 'gen_ai.provider.name',
  ATTR_GEN_AI_REQUEST_MAX_TOKENS: 'gen_ai.request.max_tokens',
  ATTR_GEN_AI_REQUEST_MODEL: 'gen_ai.request.model',
  ATTR_GEN_AI_REQUEST_TEMPERATURE: 'gen_ai.request.temperature',
  ATTR_GEN_AI_REQUEST_TOP_P: 'gen_ai.request.top_p',
  ATTR_GEN_AI_RESPONSE_FINISH_REASONS: 'gen_ai.response.finish_reasons',
  ATTR_GEN_AI_RESPONSE_ID: 'gen_ai.response.id',
  ATTR_GEN_AI_RESPONSE_MODEL: 'gen_ai.response.model',
  ATTR_GEN_AI_RESPONSE_TIME_TO_FIRST_CHUNK: 'gen_ai.response.time_to_first_chunk',
  ATTR_GEN_AI_TOKEN_TYPE: 'gen_ai.token.type',
  ATTR_GEN_AI_TOOL_CALL_ID: 'gen_ai.tool.call.id',
  ATTR_GEN_AI_TOOL_CALL_RESULT: 'gen_ai.tool.call.result',
  ATTR_GEN_AI_TOOL_NAME: 'gen_ai.tool.name',
  ATTR_GEN_AI_USAGE_INPUT_TOKENS: 'gen_ai.usage.input_tokens',
  ATTR_GEN_AI_USAGE_OUTPUT_TOKENS: 'gen_ai.usage.output_tokens',
  ATTR_SERVER_ADDRESS: 'server.address',
  ATTR_SERVER_PORT: 'server.port',
  GEN_AI_OPERATION_NAME_VALUE_CHAT: 'chat',
  GEN_AI_OPERATION_NAME_VALUE_EXECUTE_TOOL: 'execute_tool',
  GEN_AI_OPERATION_NAME_VALUE_INVOKE_AGENT: 'invoke_agent',
  GEN_AI_TOKEN_TYPE_VALUE_INPUT: 'input',
  GEN_AI_TOKEN_TYPE_VALUE_OUTPUT: 'output',
  METRIC_GEN_AI_CLIENT_OPERATION_DURATION: 'gen_ai.client.operation.duration',
  METRIC_GEN_AI_CLIENT_OPERATION_TIME_TO_FIRST_CHUNK: 'gen_ai.client.operation.time_to_first_chunk',
  METRIC_GEN_AI_CLIENT_TOKEN_USAGE: 'gen_ai.client.token.usage',
} as const;

/** The gateway's own names, for facts that the conventions do not cover. */
export const OWN = {
  SESSION_ID: 'agent_gateway.session.id',
  RUN_ID: 'agent_gateway.run.id',
  PARENT_RUN_ID: 'agent_gateway.run.parent_id',
  REQUEST_ID: 'agent_gateway.request.id',
  TRANSPORT: 'agent_gateway.transport',
  OPERATION: 'agent_gateway.operation',
  REPEATED: 'agent_gateway.send.repeated',
  STOP_REASON: 'agent_gateway.run.stop_reason',
  RESUMED: 'agent_gateway.run.resumed',
  QUEUED_SECONDS: 'agent_gateway.run.queued_seconds',
  EVENTS: 'agent_gateway.store.events',
  BYTES: 'agent_gateway.store.bytes',
} as const;
