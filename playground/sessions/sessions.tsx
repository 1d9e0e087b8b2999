import { Download } from 'lucide-react';
import { SessionList } from '../../templates/components/sessions/session-list.js';
import { MenuItem } from '../../templates/components/ui/menu.js';
import { exportMessages } from '../shell/gateway.js';
import { hrefOf, type Route } from '../shell/route.js';
import { saveFile } from '../shell/save-file.js';
import { settings } from '../shell/settings.js';
import { Import } from './import.js';

const save = async (sessionId: string) =>
  saveFile(`${sessionId}.messages.ndjson`, await exportMessages(sessionId), 'application/x-ndjson');

/** The user's sessions, each exported by its menu; and one begun with an exported file. */
export function Sessions({
  route,
  oversees,
  onChosen,
}: {
  readonly route: Route;
  readonly oversees: boolean;
  readonly onChosen: () => void;
}) {
  const { sessionId, view } = route;
  const open = (id: string) => {
    onChosen();
    location.hash = hrefOf({ view, sessionId: id });
  };
  return (
    <SessionList
      current={sessionId}
      onOpen={open}
      oversees={oversees}
      hrefOf={(id) => hrefOf({ view, sessionId: id })}
      menu={({ sessionId: id }, attempt) => (
        <MenuItem icon={Download} onChoose={() => attempt(save(id))}>
          Export
        </MenuItem>
      )}
    >
      {!settings.readOnly && <Import onImported={open} />}
    </SessionList>
  );
}
