/** Tokens that say when they run out, the times of those that were issued, and who takes them. */
export function expiringTokens(lifeMs: number) {
  const issued: number[] = [];
  return {
    issued,
    auth: {
      type: 'custom' as const,
      cookies: false as const,
      validate: (token = '') => {
        const expiresAt = Number(token);
        return { valid: expiresAt > Date.now(), user: { id: 'alice' }, expiresAt };
      },
    },
    token: () => {
      // No two are alike, also of one millisecond.
      issued.push(Date.now() + lifeMs + (issued.length + 1) / 1000);
      return String(issued.at(-1));
    },
  };
}
