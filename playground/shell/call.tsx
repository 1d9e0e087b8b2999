import { CopyButton } from '../../templates/components/ui/copy-button.js';
import type { CodeMode, CodeProps } from './code.js';
import * as recipes from './recipes.js';

const NAMES = { sdk: 'SDK', curl: 'curl' } as const;

/** A call as a program or a terminal makes it. */
export function Call({ of, what, language, onLanguage }: CodeProps & CodeMode) {
  const text = of(recipes)[language];
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
