import { type AnswerRequest, type Brand, defaultBrand } from "../contract/index.ts";
import { isolate } from "./bidi.ts";
import { consentText, type PageContent, personalPage } from "./document.ts";
import { contentField, errorList, nameField } from "./form.ts";
import { gonePage } from "./link-page.ts";
import { markup } from "./markup.ts";
import { isWebUrl } from "./seo-page.ts";

/** The page on which a buyer answers a question and then sees the answer. It uses no scripts. */
export function answerRequestPage(
  { request }: { readonly request: AnswerRequest },
  brand: Brand = defaultBrand,
): PageContent {
  const { state, product, question, answer, problems } = request;
  if (state === "gone" || !product) return gonePage();
  const title = `A question about ${product.name}`;
  const heading = markup`A question about ${isolate(product.name)}`;
  const quoted = markup`<blockquote dir="auto">${question}</blockquote>`;
  if (state === "done" && answer) {
    const back = isWebUrl(product.url) && markup`<p><a href="${product.url}">Go to the product</a></p>`;
    const body = markup`<p>Thank you! The store and its customers can now read your answer.</p>
${quoted}
<h2>Your answer</h2>
<blockquote dir="auto">${answer.content}</blockquote>
<p class="by">${isolate(answer.display_name)}</p>
${back}`;
    return personalPage(title, body, heading);
  }
  return personalPage(
    problems.length > 0 ? `Error: ${title}` : title,
    markup`<p>Another customer asks:</p>
${quoted}
${problems.length > 0 && errorList(request, "Your answer was not submitted")}
<form method="post" accept-charset="utf-8" novalidate>
${contentField(request, { label: "Your answer", hint: "It is published with the question." })}
${nameField(request)}
${consentText(brand)}
<p><button type="submit">Submit my answer</button></p>
</form>`,
    heading,
  );
}
