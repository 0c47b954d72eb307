import { type Html, markup } from "./markup.ts";

/** Attributes that describe the HTML to search engines. Source: schema.org, HTML microdata. */
export interface Microdata {
  /** Marks the element as a property of the enclosing item. */
  readonly property: (name: string) => Html;
  /** Marks the element as an item of its own. */
  readonly item: (type: string, property?: string) => Html;
  /** States that scores range from 1 to 5. */
  readonly range: Html;
}

export const microdata: Microdata = {
  property: (name) => markup` itemprop="${name}"`,
  item: (type, property) => {
    const itemprop = property !== undefined && markup` itemprop="${property}"`;
    return markup`${itemprop} itemscope itemtype="https://schema.org/${type}"`;
  },
  range: markup`<meta itemprop="bestRating" content="5"><meta itemprop="worstRating" content="1">`,
};

const none = markup``;

/** Adds no attributes, for pages that describe themselves in another way, such as JSON-LD. */
export const noMicrodata: Microdata = { property: () => none, item: () => none, range: none };
