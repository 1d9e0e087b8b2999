export type {
  Grant,
  GrantedTo,
  GrantRole,
  HiddenPart,
  Shared,
  SharedBy,
  ShareParams,
} from '../../shared/grants.js';
export { type SessionSharing, sessionSharing } from './sharing.js';
