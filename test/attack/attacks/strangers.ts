import type { Attack, Target } from "../attack.ts";

const evil = "https://evil.example/win";

/** What a stranger says about a product that the shop does not have. */
const description = {
  product_title: `Win at ${evil} or www.evil.example`,
  product_url: evil,
  product_image_url: "https://evil.example/win.png",
  product_description: `Win at ${evil}`,
};

const author = { display_name: "O'Stranger, Pat", email: "pat.stranger@mail.example" };

const isEvil = (text: string) => /evil\.example/i.test(text);

/** Removes the line breaks and the escapes of messages. */
const decode = (raw: string) =>
  raw
    .replaceAll(/=\r?\n/g, "")
    .replaceAll(/=([0-9A-F]{2})/g, (_, code: string) => String.fromCodePoint(parseInt(code, 16)));

/** Waits for a message that contains a text, and returns it decoded; empty if there is none. */
async function waitForEmail({ mail }: Target, from: number, text: string): Promise<string> {
  const find = () =>
    mail.accepted
      .slice(from)
      .map(({ raw }) => decode(raw))
      .find((message) => message.includes(text));
  const endMs = performance.now() + 15_000;
  while (find() === undefined && performance.now() < endMs) await mail.settled(mail.accepted.length + 1);
  return find() ?? "";
}

export const placeLinks: Attack = {
  name: "Place a link on a shop's pages with a review",
  run: async ({ send, account: { appKey: appkey } }) => {
    const texts = { ...author, review_title: "Great", review_content: "Great.", review_score: 5 };
    const review = { appkey, ...description, ...texts, sku: "prize", user_reference: "stranger" };
    const created = await send("POST", "/reviews/dynamic_create", review);
    await send("POST", "/v1/widget/reviews", { ...review, email: "pat.other@mail.example" });
    const { response } = created.json() as { response: { reviews: { id: number }[] } };
    const page = `/starpost/v1/pages/${appkey}/products/prize`;
    const methods = ["main_widget", "reviews", "bottomline"].map((method) => ({ method, params: { pid: "prize" } }));
    const places = [
      `/apps/${appkey}/top_reviews.html`,
      `/apps/${appkey}/top_reviews.json`,
      `/v1/widget/${appkey}/products/prize/reviews.json`,
      `/v1/widget/${appkey}/products/promoted_products`,
      `/products/${appkey}/service_global_reviews/reviews.json?user_reference=stranger`,
      `/reviews/${response.reviews[0]?.id}`,
      `/reviews/${response.reviews[0]?.id}.json`,
      `/batch?app_key=${appkey}&methods=${encodeURIComponent(JSON.stringify(methods))}`,
      page,
    ];
    const shown = [];
    for (const path of places) shown.push((await send("GET", path)).text);
    const links = [created.text, ...shown].filter(isEvil).length;
    const names = shown.filter((text) => text.includes("Stranger")).length;
    const pageStatus = (await send("GET", page)).status;
    return {
      result: `a link in ${links}, the family name in ${names} of ${shown.length + 1} outputs`,
      held: created.status === 200 && pageStatus === 200 && links === 0 && names === 0,
    };
  },
};

export const emailLinks: Attack = {
  name: "Email a shop's owner a link with a question",
  run: async (target) => {
    const { send, mail, neighbor } = target;
    const from = mail.accepted.length;
    const product = { ...description, product_id: "gift" };
    const question = { appkey: neighbor.appKey, ...product, ...author, review_content: `Is it at ${evil}?` };
    await send("POST", "/questions/send_confirmation_mail", question);
    const asked = await waitForEmail(target, from, "Please confirm your question");
    // The header contains another link.
    const [, confirm = ""] = /answer:\s+https:\/\/reviews\.example(\S+)/.exec(asked) ?? [];
    const { status } = await send("POST", confirm);
    const review = { ...author, review_title: `Go to ${evil}`, review_content: evil, review_score: 1 };
    await send("POST", "/v1/widget/reviews", { appkey: neighbor.appKey, ...product, ...review, sku: "gift" });
    const notice = await waitForEmail(target, from, "New question about");
    const reviewNotice = await waitForEmail(target, from, "New review");
    const questions = await send("GET", `/products/${neighbor.appKey}/gift/questions`);
    const { total_questions: shown } = (questions.json() as { response: { total_questions: number } }).response;
    const links = [asked, notice, reviewNotice].filter(isEvil).length;
    return {
      result: `a link in ${links} of 3 emails, ${shown} questions shown`,
      held: status === 200 && notice !== "" && reviewNotice !== "" && links === 0 && shown === 0,
    };
  },
};
