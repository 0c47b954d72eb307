import { emailTypes, type LinkState, unnamedStore } from "../contract/index.ts";
import { type Html, markup } from "./markup.ts";
import { consentText, type PageContent, personalPage } from "./document.ts";
import { defaultContext, type PageContext } from "./page-context.ts";

type EmailTypeKey = `page.email_type.${keyof typeof emailTypes}`;

/** Explains the action of a link in an email, with a button that performs it. The form posts to the page's own URL. */
export function linkPage({ link }: { readonly link: LinkState }, context: PageContext = defaultContext): PageContent {
  const { kind, state, detail } = link;
  const { t, text } = context;
  if (state === "gone") return gonePage(context);
  if (state === "done") {
    return personalPage(text(`page.${kind}.done_title`), markup`<p>${describeLink(link, "done", context)}</p>`);
  }
  // The text of the review or question.
  const isQuoted = kind !== "unsubscribe";
  return personalPage(
    text(`page.${kind}.title`),
    markup`<p>${describeLink(link, "ready", context)}</p>
${isQuoted && detail.trim() !== "" && markup`<blockquote dir="auto">${detail}</blockquote>`}
<form method="post">${isQuoted && consentText(context)}<button type="submit">${t(`page.${kind}.button`)}</button></form>`,
  );
}

function describeLink({ kind, about, detail }: LinkState, state: "ready" | "done", { t, text }: PageContext): Html {
  if (kind === "unsubscribe") {
    const [id] = Object.entries(emailTypes).find(([, description]) => description === detail) ?? [];
    const emails = id === undefined ? detail : text(`page.email_type.${id}` as EmailTypeKey);
    return t(`page.unsubscribe.${state}`, { address: about, emails });
  }
  if (kind === "verify_review" && about === unnamedStore) return t(`page.verify_review.${state}_store`);
  return t(`page.${kind}.${state}`, { product: about });
}

/** The page for a tracked link without a destination. */
export function clickPage(_value: unknown, context: PageContext = defaultContext): PageContent {
  return gonePage(context);
}

/** The page for every expired, damaged, or unknown link. It does not name the cause, to prevent probing for links. */
export function gonePage({ t, text }: PageContext): PageContent {
  return personalPage(text("page.gone.title"), markup`<p>${t("page.gone.text")}</p>`);
}
