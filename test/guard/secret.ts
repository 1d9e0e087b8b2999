/** What no door, store or record may have. */
export const SECRET = 'sk-live-4242';
/** What a guard puts in its place. */
export const REDACTED = '[key]';
/** What the app says. */
export const WHOLE = `It begins well, and then ${SECRET} comes twice, here: ${SECRET}. The end is well too.`;
/** What people may read. */
export const SHOWN = WHOLE.replaceAll(SECRET, REDACTED);
