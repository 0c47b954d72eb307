import type { LinkKind, LinkState } from "../contract/index.ts";
import { apart } from "./bidi.ts";
import { type Html, markup } from "./markup.ts";
import { personalPage } from "./personal-page.ts";

interface Words {
  readonly title: string;
  readonly doneTitle: string;
  /** What the detail is, where it is quoted. */
  readonly quotes: boolean;
  readonly ready: (about: Html, detail: Html) => Html;
  readonly button: string;
  readonly done: (about: Html, detail: Html) => Html;
}

const words: Readonly<Record<LinkKind, Words>> = {
  verify_review: {
    title: "Confirm your review",
    doneTitle: "Your review is confirmed",
    quotes: true,
    ready: (about) => markup`You wrote a review of ${about}. Confirm that it is yours.`,
    button: "Confirm my review",
    done: (about) => markup`Thank you: your review of ${about} is confirmed.`,
  },
  confirm_question: {
    title: "Confirm your question",
    doneTitle: "Your question is confirmed",
    quotes: true,
    ready: (about) => markup`You asked a question about ${about}. It is shown when you confirm it.`,
    button: "Confirm my question",
    done: (about) => markup`Thank you: your question about ${about} is confirmed.`,
  },
  unsubscribe: {
    title: "Unsubscribe",
    doneTitle: "You are unsubscribed",
    quotes: false,
    ready: (about, detail) =>
      markup`Press the button to stop these mails to ${about}: ${detail}. Nothing changes before you do.`,
    button: "Unsubscribe",
    done: (about, detail) => markup`Done. These mails are no longer sent to ${about}: ${detail}.`,
  },
};

/**
 * What the link of a mail does, and the button that does it. The form goes to the page's own address, whose token
 * is all that it needs.
 */
export function linkPage({ link: { kind, state, about, detail } }: { readonly link: LinkState }): string {
  if (state === "gone") return gonePage();
  const { title, doneTitle, quotes, ready, button, done } = words[kind];
  const [name, what] = [apart(about), apart(detail)];
  if (state === "done") return personalPage(doneTitle, markup`<p>${done(name, what)}</p>`);
  return personalPage(
    title,
    markup`<p>${ready(name, what)}</p>
${quotes && detail.trim() !== "" && markup`<blockquote dir="auto">${detail}</blockquote>`}
<form method="post"><button type="submit">${button}</button></form>`,
  );
}

/** What a link leads to that cannot lead on. */
export function clickPage(): string {
  return gonePage();
}

/** Shown for every link that is too old, damaged, or none of ours: which of these is not told. */
export function gonePage(): string {
  return personalPage(
    "This link no longer works",
    markup`<p>It is too old, it was not copied whole, or what it was about is no longer there. Write to the shop that sent it, or ask or review
once more on its page: a new link comes with a new mail.</p>`,
  );
}
