import { createContext, useContext } from 'react';
import { CopyButton } from '../../templates/components/ui/copy-button.js';
import type { RecipeText } from './recipes.js';

/** Whether and in which language the page shows the calls behind its controls. */
export interface CodeMode {
  readonly shown: boolean;
  readonly language: keyof RecipeText;
  readonly onLanguage: (language: keyof RecipeText) => void;
}

const CodeContext = createContext<CodeMode>({ shown: false, language: 'sdk', onLanguage: () => {} });

export const CodeProvider = CodeContext.Provider;

const NAMES = { sdk: 'SDK', curl: 'curl' } as const;

/** The call behind a control as a program or a terminal makes it, if the page is to show calls. */
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
