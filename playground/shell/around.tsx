import type { Around, Control } from '../../templates/components/ui/around.js';
import { Code } from './code.js';
import { files } from './gateway.js';
import {
  answerRecipe,
  closeRecipe,
  deleteRecipe,
  editRecipe,
  exportRecipe,
  handBackRecipe,
  type RecipeText,
  regenerateRecipe,
  sendRecipe,
  sessionsRecipe,
  shareRecipe,
  takeOverRecipe,
  updateRecipe,
} from './recipes.js';
import { hrefOf } from './route.js';
import { settings } from './settings.js';

/** This page's part for the components: beside each control is the call behind it. */
export const around: Around = {
  files,
  readOnly: settings.readOnly,
  // The opened page removes the token from its address.
  linkTo: (token, sessionId) =>
    `${location.origin}${location.pathname}#token=${token}&${hrefOf({ view: 'chat', sessionId }).slice(1)}`,
  beside: (control) => <Code what={nameOf(control)} of={() => recipeOf(control)} />,
};

const nameOf = ({ does }: Control): string =>
  does === 'change the session' ? 'rename, export, close, delete' : does;

function recipeOf(control: Control): RecipeText {
  switch (control.does) {
    case 'send':
      return sendRecipe(control.sessionId, control.text, control.options);
    case 'edit':
      return editRecipe(control.sessionId, control.messageId, control.text);
    case 'answer again':
      return regenerateRecipe(control.sessionId, control.messageId);
    case 'approve':
      return answerRecipe(control.sessionId, control.callId);
    case 'take over':
      return takeOverRecipe(control.sessionId);
    case 'hand back':
      return handBackRecipe(control.sessionId);
    case 'share':
      return shareRecipe(control.sessionId);
    case 'list the sessions':
      return sessionsRecipe();
    case 'change the session':
      return inLines(
        updateRecipe(control.sessionId, { title: control.title }),
        exportRecipe(control.sessionId),
        closeRecipe(control.sessionId),
        deleteRecipe(control.sessionId),
      );
  }
}

const inLines = (...all: readonly RecipeText[]): RecipeText => ({
  curl: all.map(({ curl }) => curl).join('\n'),
  sdk: all.map(({ sdk }) => sdk).join('\n'),
});
