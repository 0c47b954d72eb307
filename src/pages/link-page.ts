import type { LinkKind, LinkState } from "../contract/index.ts";
import { renderDocument } from "./document.ts";
import { type Html, markup } from "./markup.ts";

interface Words {
  readonly title: string;
  readonly ready: (about: Html) => Html;
  readonly button: string;
  readonly done: (about: Html) => Html;
}

const words: Readonly<Record<LinkKind, Words>> = {
  verify_review: {
    title: "Confirm your review",
    ready: (about) => markup`You wrote a review of ${about}. Confirm that it is yours.`,
    button: "Confirm my review",
    done: (about) => markup`Thank you: your review of ${about} is confirmed.`,
  },
  confirm_question: {
    title: "Confirm your question",
    ready: (about) => markup`You asked a question about ${about}. It is shown when you confirm it.`,
    button: "Confirm my question",
    done: (about) => markup`Thank you: your question about ${about} is confirmed.`,
  },
  unsubscribe: {
    title: "Unsubscribe",
    ready: (about) => markup`Mails of this kind will no longer be sent to ${about}.`,
    button: "Unsubscribe",
    done: (about) => markup`Done: mails of this kind are no longer sent to ${about}.`,
  },
};

/**
 * What the link of a mail does, and the button that does it. The form goes to the page's own address, whose token
 * is all that it needs.
 */
export function linkPage({ link: { kind, state, about } }: { readonly link: LinkState }): string {
  if (state === "gone") {
    return personalPage(
      "This link no longer works",
      markup`<p>It is too old, or what it was about is no longer there.</p>`,
    );
  }
  const { title, ready, button, done } = words[kind];
  const name = markup`<bdi>${about}</bdi>`;
  if (state === "done") return personalPage(title, markup`<p>${done(name)}</p>`);
  return personalPage(
    title,
    markup`<p>${ready(name)}</p>
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
