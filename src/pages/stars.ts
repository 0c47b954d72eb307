import { type Html, markup } from "./markup.ts";

/** What the HTML itself tells search engines, as attributes. Source: schema.org, as microdata. */
export interface Marks {
  /** What the element says of the thing around it. */
  readonly says: (property: string) => Html;
  /** The element is a thing of its own. */
  readonly is: (type: string, property?: string) => Html;
  /** Scores are from 1 to 5. */
  readonly range: Html;
}

export const schemaMarks: Marks = {
  says: (property) => markup` itemprop="${property}"`,
  is: (type, property) => {
    const says = property !== undefined && markup` itemprop="${property}"`;
    return markup`${says} itemscope itemtype="https://schema.org/${type}"`;
  },
  range: markup`<meta itemprop="bestRating" content="5"><meta itemprop="worstRating" content="1">`,
};

const nothing = markup``;

/** For HTML beside which the same is said in another way. */
export const noMarks: Marks = { says: () => nothing, is: () => nothing, range: nothing };
