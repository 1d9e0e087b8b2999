export type { TelemetryOptions } from './options.js';
export { telemetryPlugin } from './telemetry-plugin.js';
