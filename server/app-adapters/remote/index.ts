export type { RemoteOptions } from './options.js';
export { pulledApp } from './pulled-app.js';
export { type RemoteAppOptions, remoteApp } from './remote-app.js';
export { type PullOptions, type PullWorker, pullWork } from './serve/pull-work.js';
export {
  type AppServer,
  appHandler,
  type ServeAppOptions,
  type ServedApps,
  type ServePlace,
  serveApp,
} from './serve/serve-app.js';
export type { ServedApp, ServedChild, ServedStep, ServedTurn } from './serve/served-app.js';
export { type WorkPluginOptions, workPlugin } from './work-plugin.js';
