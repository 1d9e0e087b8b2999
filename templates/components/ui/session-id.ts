/** A key for a session that somebody begins without a name for it. */
export function newSessionId(app?: string): string {
  const name = `chat-${Date.now().toString(36)}`;
  return app === undefined ? name : `${app}:${name}`;
}

/** Whether nobody has chosen a key: its session is called by its first message. */
export const isUnnamed = (sessionId: string): boolean => /(?:^|:)chat-[a-z0-9]{8,9}$/.test(sessionId);

/** Whether it is the address of a session in a list of all users' sessions, which may be read and nothing else. */
export const isOverseen = (sessionId: string): boolean => /(?:^|:)~of\./.test(sessionId);
