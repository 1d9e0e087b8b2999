export type { Control, ControlMove, HandOff, RequestedHandOff } from '../../shared/control.js';
export {
  type HandBackOptions,
  type SessionControl,
  sessionControl,
  type TakeOverOptions,
} from './control.js';
