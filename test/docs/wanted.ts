import { todays } from '../support/daily.js';
import { BLOCKS, type Block, PAGES } from '../support/pages.js';

const { DOCS } = process.env;
const HAVING = PAGES.filter((page) => BLOCKS.some((block) => block.page === page));
const TODAY = new Set(todays(HAVING, 3));

/** The blocks that are tried: those of the day's pages, or, with `DOCS=docs/apps`, those whose ids begin so. */
export const WANTED: readonly Block[] = BLOCKS.filter(({ id, page }) =>
  DOCS === undefined ? TODAY.has(page) : id.startsWith(DOCS),
);
