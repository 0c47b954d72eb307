import { type Brand, defaultBrand, type LinkKind, type LinkState } from "../contract/index.ts";
import { isolate } from "./bidi.ts";
import { type Html, markup } from "./markup.ts";
import { consentText, type PageContent, personalPage } from "./document.ts";

interface LinkTexts {
  readonly title: string;
  readonly doneTitle: string;
  /** Whether the page quotes the detail, which is then the text of the review or question. */
  readonly quotesDetail: boolean;
  readonly ready: (about: Html, detail: Html) => Html;
  readonly button: string;
  readonly done: (about: Html, detail: Html) => Html;
}

const texts: Readonly<Record<LinkKind, LinkTexts>> = {
  verify_review: {
    title: "Confirm your review",
    doneTitle: "Your review is confirmed",
    quotesDetail: true,
    ready: (about) => markup`You wrote a review of ${about}. Please confirm that it is yours.`,
    button: "Confirm my review",
    done: (about) => markup`Thank you! Your review of ${about} is confirmed.`,
  },
  confirm_question: {
    title: "Confirm your question",
    doneTitle: "Your question is confirmed",
    quotesDetail: true,
    ready: (about) => markup`You asked a question about ${about}. To publish it, confirm that it is yours.`,
    button: "Confirm my question",
    done: (about) => markup`Thank you! Your question about ${about} is confirmed.`,
  },
  unsubscribe: {
    title: "Unsubscribe",
    doneTitle: "You are unsubscribed",
    quotesDetail: false,
    ready: (about, detail) =>
      markup`Do you want to stop these emails to ${about}: ${detail}? Nothing changes until you select the button.`,
    button: "Unsubscribe",
    done: (about, detail) => markup`These emails are no longer sent to ${about}: ${detail}.`,
  },
};

/** Explains the action of a link in an email, with a button that performs it. The form posts to the page's own URL. */
export function linkPage(
  { link: { kind, state, about, detail } }: { readonly link: LinkState },
  brand: Brand = defaultBrand,
): PageContent {
  if (state === "gone") return gonePage();
  const { title, doneTitle, quotesDetail, ready, button, done } = texts[kind];
  const [subject, detailText] = [isolate(about), isolate(detail)];
  if (state === "done") return personalPage(doneTitle, markup`<p>${done(subject, detailText)}</p>`);
  return personalPage(
    title,
    markup`<p>${ready(subject, detailText)}</p>
${quotesDetail && detail.trim() !== "" && markup`<blockquote dir="auto">${detail}</blockquote>`}
<form method="post">${quotesDetail && consentText(brand)}<button type="submit">${button}</button></form>`,
  );
}

/** The page for a tracked link without a destination. */
export function clickPage(): PageContent {
  return gonePage();
}

/** The page for every expired, damaged, or unknown link. It does not name the cause, to prevent probing for links. */
export function gonePage(): PageContent {
  return personalPage(
    "This link no longer works",
    markup`<p>The link has expired, is incomplete, or refers to something that no longer exists. Contact the store that sent it, or
submit your review or question again on the store's website to receive an email with a new link.</p>`,
  );
}
