import type { Plugin } from 'esbuild';
import type { Application, Gateway } from '../../../server/index.js';
import { langGraphPlugin } from '../../../server/plugins/langgraph/index.js';
import { servePage } from '../../e2e/page-host.js';
import { openPage } from '../../support/browser.js';

/** Opens a page of a gateway that speaks LangGraph's protocol; its messages are paragraphs. */
export async function openChat(
  script: string,
  options: { readonly app: Application; readonly plugins?: readonly Plugin[] },
) {
  let gateway!: Gateway<any, any, any>;
  const url = await servePage(script, options as Parameters<typeof servePage>[1], (it) => {
    gateway = it;
    it.use(langGraphPlugin());
  });
  const { page, problems } = await openPage(url);
  /** Waits until these are all the page's messages. */
  const texts = (wanted: readonly string[]) =>
    page.waitForFunction(
      (all) =>
        JSON.stringify([...document.querySelectorAll('p')].map((p) => p.textContent)) === JSON.stringify(all),
      wanted,
    );
  return { gateway, url, page, problems, texts };
}
