import type { AnswerRequest } from "../contract/index.ts";
import { isolate } from "./bidi.ts";
import { consentText, type PageContent, personalPage } from "./document.ts";
import { contentField, errorList, type FormContext, nameField } from "./form.ts";
import { gonePage } from "./link-page.ts";
import { isWebUrl, markup } from "./markup.ts";
import { defaultContext, type PageContext } from "./page-context.ts";

/** The page on which a buyer answers a question and then sees the answer. It uses no scripts. */
export function answerRequestPage(
  { request }: { readonly request: AnswerRequest },
  context: PageContext = defaultContext,
): PageContent {
  const { t, text } = context;
  const { state, product, question, answer, problems } = request;
  if (state === "gone" || !product) return gonePage(context);
  const values = { product: product.name };
  const title = text("page.answer.title", values);
  const heading = t("page.answer.title", values);
  const quoted = markup`<blockquote dir="auto">${question}</blockquote>`;
  if (state === "done" && answer) {
    const back = isWebUrl(product.url) && markup`<p><a href="${product.url}">${t("page.to_product")}</a></p>`;
    const body = markup`<p>${t("page.answer.done")}</p>
${quoted}
<h2>${t("page.form.answer")}</h2>
<blockquote dir="auto">${answer.content}</blockquote>
<p class="by">${isolate(answer.display_name)}</p>
${back}`;
    return personalPage(title, body, heading);
  }
  const form: FormContext = { ...context, subject: "answer" };
  return personalPage(
    problems.length > 0 ? text("page.error", { title }) : title,
    markup`<p>${t("page.answer.asked")}</p>
${quoted}
${errorList(request, "page.answer.not_submitted", form)}
<form method="post" accept-charset="utf-8" novalidate>
${contentField(request, form)}
${nameField(request, form)}
${consentText(context)}
<p><button type="submit">${t("page.answer.submit")}</button></p>
</form>`,
    heading,
  );
}
