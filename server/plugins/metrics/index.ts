export { metricsPlugin } from './metrics-plugin.js';
export type { MetricsPluginOptions } from './options.js';
