import { renderDocument } from "./document.ts";
import { type Html, markup } from "./markup.ts";

/** Renders a page whose URL is meant for one person. Search engines must not index it. */
export function personalPage(title: string, body: Html, heading: Html = markup`${title}`): string {
  return renderDocument({
    title,
    head: markup`<meta name="robots" content="noindex, nofollow">`,
    body: markup`<h1>${heading}</h1>
${body}`,
  });
}
