import { useEffect, useState } from 'react';

const TICK_MS = 1000;

/** The time since a moment, in milliseconds since the epoch. It goes on while it is shown, and is not read aloud each second. */
export function Elapsed({ since }: { readonly since: number }) {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, []);
  // Clocks of devices differ from the gateway's.
  const seconds = Math.max(0, Math.round((now - since) / 1000));
  const minutes = Math.floor(seconds / 60);
  return (
    <time dateTime={`PT${seconds}S`}>
      {minutes > 0 ? `${minutes} min ${seconds % 60} s` : `${seconds} s`}
    </time>
  );
}
