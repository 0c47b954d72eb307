import { renderDocument } from "./document.ts";
import { type Html, markup } from "./markup.ts";

/** A page whose address is for one person; its heading is its title, where it has none of its own. */
export function personalPage(title: string, body: Html, heading: Html = markup`${title}`): string {
  return renderDocument({
    title,
    head: markup`<meta name="robots" content="noindex, nofollow">`,
    body: markup`<h1>${heading}</h1>
${body}`,
  });
}
