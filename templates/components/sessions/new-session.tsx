import { Plus } from 'lucide-react';
import { useApps } from '../ui/apps.js';
import { Menu, MenuItem } from '../ui/menu.js';
import { newSessionId } from '../ui/session-id.js';

/** A button that begins a session. Asks for the app if there are several. */
export function NewSession({ onBegin }: { readonly onBegin: (sessionId: string) => void }) {
  const apps = useApps();
  const begin = (app?: string) => onBegin(newSessionId(app));
  if (!apps || apps.length < 2) {
    return (
      <button type="button" className="begin" onClick={() => begin()}>
        <Plus aria-hidden="true" /> New session
      </button>
    );
  }
  return (
    <Menu
      label="New session"
      className="begin"
      align="start"
      text={
        <>
          <Plus aria-hidden="true" /> New session
        </>
      }
    >
      {apps.map(({ name, isDefault }) => (
        <MenuItem key={name} onChoose={() => begin(isDefault ? undefined : name)}>
          {name}
        </MenuItem>
      ))}
    </Menu>
  );
}
