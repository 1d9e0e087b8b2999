import { createContext, lazy, Suspense, useContext } from 'react';
import type * as Recipes from './recipes.js';

/** Whether and in which language the page shows the calls behind its controls. */
export interface CodeMode {
  readonly shown: boolean;
  readonly language: keyof Recipes.RecipeText;
  readonly onLanguage: (language: keyof Recipes.RecipeText) => void;
}

const CodeContext = createContext<CodeMode>({ shown: false, language: 'sdk', onLanguage: () => {} });

export const CodeProvider = CodeContext.Provider;

export interface CodeProps {
  readonly what: string;
  readonly of: (recipes: typeof Recipes) => Recipes.RecipeText;
}

// The calls are loaded when they are shown first.
const Call = lazy(async () => ({ default: (await import('./call.js')).Call }));

/** The call behind a control as a program or a terminal makes it, if the page is to show calls. */
export function Code(props: CodeProps) {
  const mode = useContext(CodeContext);
  if (!mode.shown) return null;
  return (
    <Suspense fallback={null}>
      <Call {...props} {...mode} />
    </Suspense>
  );
}
