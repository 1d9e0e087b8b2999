import { useEffect, useState } from 'react';

/** The time since a moment, updated each second. */
export function Elapsed({ since }: { readonly since: number }) {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  // The clock of this page may be behind the gateway's.
  const seconds = Math.max(0, Math.round((now - since) / 1000));
  return <time dateTime={`PT${seconds}S`}>{seconds} s</time>;
}
