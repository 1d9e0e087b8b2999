export type { UiMessageInfo } from '../../../shared/ui-stream/options.js';
export { type UiMessageStreamOptions, uiMessageStreamPlugin } from './plugin.js';
