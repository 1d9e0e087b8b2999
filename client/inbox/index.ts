export type { InboxPage, InboxRow, InboxTotals, ReadResult } from '../../shared/inbox/contract.js';
export type { NoticeKind, NoticeState } from '../../shared/notices/contract.js';
export { type ClientInbox, clientInbox } from './client-inbox.js';
export type { InboxEvent, InboxEventsOptions } from './events.js';
export { readWhileVisible } from './read-while-visible.js';
