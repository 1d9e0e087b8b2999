import { clientPush } from 'agent-session-gateway/client/push';
import { useGateway } from 'agent-session-gateway/client/react';
import { useEffect, useState } from 'react';

interface PushSwitchProps {
  /** The service worker that shows notices, as your site serves it. */
  readonly worker?: string;
}

const isPossible = () => 'serviceWorker' in navigator && 'PushManager' in globalThis;

/** Whether this browser is told what happens while no page is open. Nothing where browsers cannot be told. */
export function PushSwitch({ worker = '/push-worker.js' }: PushSwitchProps) {
  const client = useGateway();
  const [isOn, setOn] = useState<boolean>();
  const [problem, setProblem] = useState('');
  useEffect(() => {
    if (!isPossible()) return;
    const look = async () => {
      const registration = await navigator.serviceWorker.getRegistration();
      setOn((await registration?.pushManager.getSubscription()) != null);
    };
    look().catch(() => setOn(false));
  }, []);
  if (isOn === undefined) return null;

  const change = async () => {
    if (isOn) {
      await clientPush(client).unsubscribe(await navigator.serviceWorker.ready);
      return setOn(false);
    }
    // Browsers ask people only in answer to what they do.
    if ((await Notification.requestPermission()) !== 'granted')
      throw new Error('This browser does not let the page notify you: allow it in the settings of the site.');
    await navigator.serviceWorker.register(worker);
    await clientPush(client).subscribe(await navigator.serviceWorker.ready);
    setOn(true);
  };

  return (
    <p className="asg push-switch">
      <button
        type="button"
        role="switch"
        aria-checked={isOn}
        onClick={() => {
          setProblem('');
          change().catch((cause: Error) => setProblem(cause.message));
        }}
      >
        Notify me when I am away
      </button>
      {problem && <span role="alert">{problem}</span>}
    </p>
  );
}
