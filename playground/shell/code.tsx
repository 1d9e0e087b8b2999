import { createContext, useContext } from 'react';
import { CopyButton } from '../ui/copy.js';
import type { RecipeText } from './recipes.js';

/** How the page shows what is behind its controls. */
export interface CodeMode {
  readonly shown: boolean;
  readonly language: keyof RecipeText;
  readonly onLanguage: (language: keyof RecipeText) => void;
}

const CodeContext = createContext<CodeMode>({ shown: false, language: 'sdk', onLanguage: () => {} });

export const CodeProvider = CodeContext.Provider;

const NAMES = { sdk: 'SDK', curl: 'curl' } as const;

/** How the same is done from a program or a terminal, where the page is to show that. */
export function Code({ of, what }: { readonly of: () => RecipeText; readonly what: string }) {
  const { shown, language, onLanguage } = useContext(CodeContext);
  if (!shown) return null;
  const text = of()[language];
  return (
    <section className="code" aria-label={`Code: ${what}`}>
      <div className="row">
        <span className="muted">{what}</span>
        <span className="space" />
        {(['sdk', 'curl'] as const).map((each) => (
          <button key={each} type="button" aria-pressed={each === language} onClick={() => onLanguage(each)}>
            {NAMES[each]}
          </button>
        ))}
        <CopyButton label={`Copy: ${what}`} text={() => text} />
      </div>
      <pre tabIndex={0}>{text}</pre>
    </section>
  );
}
