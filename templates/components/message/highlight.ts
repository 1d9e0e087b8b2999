/// <reference types="highlight.js" />

import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import css from 'highlight.js/lib/languages/css';
import diff from 'highlight.js/lib/languages/diff';
import go from 'highlight.js/lib/languages/go';
import java from 'highlight.js/lib/languages/java';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import rust from 'highlight.js/lib/languages/rust';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import xml from 'highlight.js/lib/languages/xml';
import yaml from 'highlight.js/lib/languages/yaml';

const LANGUAGES = {
  ...{ bash, css, diff, go, java, javascript, json, python, rust, sql, typescript, xml, yaml },
};
for (const [name, language] of Object.entries(LANGUAGES)) hljs.registerLanguage(name, language);
hljs.registerAliases(['tsx', 'mts', 'cts'], { languageName: 'typescript' });
hljs.registerAliases(['shell', 'console'], { languageName: 'bash' });

/** A piece of code: text, or pieces that have a role together, such as `hljs-keyword`. */
export type Piece = string | { readonly role: string; readonly pieces: readonly Piece[] };

/** The pieces of a text of code, or undefined in a language that is not known. */
export function highlight(text: string, language: string): readonly Piece[] | undefined {
  if (!hljs.getLanguage(language)) return undefined;
  const { value } = hljs.highlight(text, { language, ignoreIllegals: true });
  // Read in a document of its own: nothing of it becomes HTML of the page.
  const { body } = new DOMParser().parseFromString(`<code>${value}</code>`, 'text/html');
  return piecesOf(body.firstElementChild!);
}

function piecesOf(element: Element): readonly Piece[] {
  return [...element.childNodes].map((node) =>
    node instanceof Element ? { role: node.className, pieces: piecesOf(node) } : (node.textContent ?? ''),
  );
}
