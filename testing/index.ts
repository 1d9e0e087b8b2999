export type { Clock } from './clock.js';
export { type ConformanceOptions, type ConformanceResult, conformance } from './conformance/conformance.js';
export type { Line } from './cuttable.js';
export { type DeliveryHistory, deliveryFaults } from './delivery.js';
export { eventsOf, isEvent, nextEvent, pendingOf, type ToolCall, textOf, toolCallsOf } from './look.js';
export {
  type Divergence,
  type ReplayOptions,
  type ReplayResult,
  readRecord,
  replaySession,
} from './replay/replay-session.js';
export { type AfterEach, testGateways } from './runner.js';
export { type Script, type ScriptedOptions, type ScriptStep, scripted } from './scripted.js';
export { type ModelRequest, type ModelStep, type ScriptedModel, scriptedModel } from './scripted-model.js';
export type { TestClient, TestClientOptions } from './test-client.js';
export { type KitOptions, type LogLine, type TestGateway, testGateway } from './test-gateway.js';
