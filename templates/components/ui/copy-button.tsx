import { Check, Copy } from 'lucide-react';
import { useState } from 'react';
import { IconButton } from './icon-button.js';

/** A button that copies a text, if the browser lets the page do so. */
export function CopyButton({ label, text }: { readonly label: string; readonly text: () => string }) {
  const [copied, setCopied] = useState(false);
  if (!globalThis.navigator?.clipboard) return null;
  const copy = () =>
    void navigator.clipboard.writeText(text()).then(
      () => setCopied(true),
      () => {},
    );
  return (
    <IconButton
      label={copied ? 'Copied' : label}
      icon={copied ? Check : Copy}
      onClick={copy}
      onBlur={() => setCopied(false)}
    />
  );
}
