import type { Around, Control } from '../../templates/components/ui/around.js';
import { Code } from './code.js';
import { files } from './gateway.js';
import type * as Recipes from './recipes.js';
import { hrefOf } from './route.js';
import { settings } from './settings.js';

/** This page's part for the components: beside each control is the call behind it. */
export const around: Around = {
  files,
  readOnly: settings.readOnly,
  // The opened page removes the token from its address.
  linkTo: (token, sessionId) =>
    `${location.origin}${location.pathname}#token=${token}&${hrefOf({ view: 'chat', sessionId }).slice(1)}`,
  beside: (control) => <Code what={nameOf(control)} of={(recipes) => recipeOf(recipes, control)} />,
};

/** The same for a session that is only read. */
export const reading: Around = { ...around, readOnly: true };

const nameOf = ({ does }: Control): string =>
  does === 'change the session' ? 'rename, export, close, delete' : does;

function recipeOf(recipes: typeof Recipes, control: Control): Recipes.RecipeText {
  switch (control.does) {
    case 'send':
      return recipes.sendRecipe(control.sessionId, control.text, control.options);
    case 'edit':
      return recipes.editRecipe(control.sessionId, control.messageId, control.text);
    case 'answer again':
      return recipes.regenerateRecipe(control.sessionId, control.messageId);
    case 'approve':
      return recipes.answerRecipe(control.sessionId, control.callId);
    case 'take over':
      return recipes.takeOverRecipe(control.sessionId);
    case 'hand back':
      return recipes.handBackRecipe(control.sessionId);
    case 'share':
      return recipes.shareRecipe(control.sessionId);
    case 'list the sessions':
      return recipes.sessionsRecipe();
    case 'change the session':
      return inLines(
        recipes.updateRecipe(control.sessionId, { title: control.title }),
        recipes.exportRecipe(control.sessionId),
        recipes.closeRecipe(control.sessionId),
        recipes.deleteRecipe(control.sessionId),
      );
  }
}

const inLines = (...all: readonly Recipes.RecipeText[]): Recipes.RecipeText => ({
  curl: all.map(({ curl }) => curl).join('\n'),
  sdk: all.map(({ sdk }) => sdk).join('\n'),
});
