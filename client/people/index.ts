export type { Control, ControlMove, HandOff, RequestedHandOff } from '../../shared/control.js';
export type {
  Grant,
  GrantedTo,
  GrantRole,
  HiddenPart,
  Shared,
  SharedBy,
  ShareParams,
} from '../../shared/grants.js';
export type { PresenceChange, PresenceMember, PresenceState } from '../../shared/presence/contract.js';
export type { Reaction, ReactionGiven } from '../../shared/reactions/contract.js';
export {
  type HandBackOptions,
  type SessionControl,
  sessionControl,
  type TakeOverOptions,
} from './control.js';
export { type PresenceView, type SessionPresence, sessionPresence } from './presence.js';
export { type ReactOptions, type SessionReactions, sessionReactions } from './reactions.js';
export {
  type RetractMessageOptions,
  type SessionRetraction,
  sessionRetraction,
} from './retraction.js';
export { type SessionSharing, sessionSharing } from './sharing.js';
