export type { RemoteOptions } from './options.js';
export { pulledApp } from './pulled-app.js';
export { type RemoteAppOptions, remoteApp } from './remote-app.js';
export { type PullWorker, type PullOptions, pullWork } from './serve/pull-work.js';
export {
  type AppServer,
  appHandler,
  type ServedApps,
  type ServeAppOptions,
  type ServePlace,
  serveApp,
} from './serve/serve-app.js';
export type { ServedApp, ServedChild, ServedStep, ServedTurn } from './serve/served-app.js';
export { type WorkPluginOptions, workPlugin } from './work-plugin.js';
