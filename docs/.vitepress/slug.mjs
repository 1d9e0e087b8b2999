import { slug } from 'github-slugger';

/** The anchor of a heading, as GitHub and npm write it, so that one link works there and on the site. */
export const anchorOf = (heading) => slug(heading);
