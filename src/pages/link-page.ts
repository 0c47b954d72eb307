import type { LinkKind, LinkState } from "../contract/index.ts";
import { renderDocument } from "./document.ts";
import { type Html, markup } from "./markup.ts";

interface Words {
  readonly title: string;
  /** What the detail is, where it is quoted. */
  readonly quotes: boolean;
  readonly ready: (about: Html, detail: Html) => Html;
  readonly button: string;
  readonly done: (about: Html, detail: Html) => Html;
}

const words: Readonly<Record<LinkKind, Words>> = {
  verify_review: {
    title: "Confirm your review",
    quotes: true,
    ready: (about) => markup`You wrote a review of ${about}. Confirm that it is yours.`,
    button: "Confirm my review",
    done: (about) => markup`Thank you: your review of ${about} is confirmed.`,
  },
  confirm_question: {
    title: "Confirm your question",
    quotes: true,
    ready: (about) => markup`You asked a question about ${about}. It is shown when you confirm it.`,
    button: "Confirm my question",
    done: (about) => markup`Thank you: your question about ${about} is confirmed.`,
  },
  unsubscribe: {
    title: "Unsubscribe",
    quotes: false,
    ready: (about, detail) => markup`These mails will no longer be sent to ${about}: ${detail}.`,
    button: "Unsubscribe",
    done: (about, detail) => markup`Done. These mails are no longer sent to ${about}: ${detail}.`,
  },
};

/**
 * What the link of a mail does, and the button that does it. The form goes to the page's own address, whose token
 * is all that it needs.
 */
export function linkPage({ link: { kind, state, about, detail } }: { readonly link: LinkState }): string {
  if (state === "gone") {
    return personalPage(
      "This link no longer works",
      markup`<p>It is too old, or what it was about is no longer there. Write to the shop that sent it, or ask or review
once more on its page: a new link comes with a new mail.</p>`,
    );
  }
  const { title, quotes, ready, button, done } = words[kind];
  const [name, what] = [markup`<bdi>${about}</bdi>`, markup`<bdi>${detail}</bdi>`];
  if (state === "done") return personalPage(title, markup`<p>${done(name, what)}</p>`);
  return personalPage(
    title,
    markup`<p>${ready(name, what)}</p>
${quotes && detail.trim() !== "" && markup`<blockquote dir="auto">${detail}</blockquote>`}
<form method="post"><button type="submit">${button}</button></form>`,
  );
}

/** A page whose address is for one person. */
export function personalPage(title: string, body: Html): string {
  return renderDocument({
    title,
    head: markup`<meta name="robots" content="noindex, nofollow">`,
    body: markup`<h1>${title}</h1>
${body}`,
  });
}
