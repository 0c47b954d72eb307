import { describe, expect, it } from "vitest";
import type { ReviewRequest } from "../../../src/contract/index.ts";
import { isolate } from "../../../src/pages/bidi.ts";
import { policyOf, renderDocument } from "../../../src/pages/document.ts";
import { render } from "../../../src/pages/markup.ts";
import { reviewRequestPage } from "../../../src/pages/review-request-page.ts";
import { findFaults } from "../../support/html.ts";
import { hostileTexts } from "../../support/hostile-texts.ts";

const written = {
  score: 4,
  title: "Pours well",
  content: "No drips.",
  display_name: "Ann T.",
  verified_buyer: true,
  created_at: "2026-03-15T12:00:00.000Z",
};

const ready: ReviewRequest = {
  state: "ready",
  is_test: false,
  is_site: false,
  is_unsubscribed: false,
  store_name: "Tea & Cups",
  product: { name: "A pot", url: "https://shop.example/pot", image_url: "https://shop.example/pot.png" },
  fields: { score: "", title: "", content: "", display_name: "Ann Tea" },
  problems: [],
  review: null,
  photos_url: null,
  my_reviews_url: "https://shop.example/my_reviews",
};

const requestOf = (fields: Partial<ReviewRequest>) => ({ request: { ...ready, ...fields } });

describe("the review form", () => {
  const problems = (["score", "title", "content", "display_name"] as const).map((field) => ({
    field,
    error: `Look at ${field}.`,
  }));
  const states: readonly [string, Partial<ReviewRequest>][] = [
    ["ready", {}],
    ["with mistakes", { problems, fields: { score: "9", title: "x", content: "\n\ny", display_name: "" } }],
    ["of a test mail", { is_test: true }],
    ["of who has unsubscribed", { is_unsubscribed: true }],
    ["done", { state: "done", review: written }],
    ["done, of a test mail", { state: "done", review: written, is_test: true }],
    ["gone", { state: "gone", product: null }],
    [
      "of a product without address and image",
      { product: { name: "A pot", url: "", image_url: null }, store_name: "" },
    ],
  ];

  it.each(states)("is valid HTML: %s", async (_state, fields) => {
    const page = renderDocument(reviewRequestPage(requestOf(fields)));
    expect(await findFaults(page)).toEqual([]);
    expect(page.includes("<form")).toBe(fields.state === undefined);
    expect(page).toContain('content="noindex, nofollow"');
  });

  it("links each error to its field, and keeps the input", () => {
    const page = renderDocument(
      reviewRequestPage(requestOf({ problems, fields: { ...ready.fields, score: "3", content: "\ny" } })),
    );
    for (const { field } of problems) {
      const [, error = ""] = new RegExp(`<li><a href="#${field}">(.+?)</a></li>`).exec(page) ?? [];
      expect(error).not.toBe("");
      expect(page).toContain(`<span class="fault" id="${field}-fault">${error}</span>`);
      expect(page).toContain(`aria-invalid="true" aria-describedby="${field}-hint ${field}-fault"`);
    }
    expect(page).toContain('value="3" checked required');
    expect(page.match(/ checked/g)).toHaveLength(1);
    // Browsers drop the first line break.
    expect(page).toContain(">\n\ny</textarea>");
  });

  it("folds a known name, which is shown as it will appear", () => {
    const isFolded = (fields: Partial<ReviewRequest>) =>
      renderDocument(reviewRequestPage(requestOf(fields))).includes("<details");
    expect(renderDocument(reviewRequestPage(requestOf({})))).toContain("Published as <bdi>Ann T.</bdi>");
    expect(isFolded({ fields: { ...ready.fields, display_name: "" } })).toBe(false);
    expect(isFolded({ problems: [{ field: "title", error: "Write a title." }] })).toBe(true);
    expect(isFolded({ problems: [{ field: "display_name", error: "Write a name." }] })).toBe(false);
  });

  it("states that a review from a test email is not saved", () => {
    expect(renderDocument(reviewRequestPage(requestOf({ is_test: true })))).toContain("not saved");
    const done = { state: "done", review: written } as const;
    expect(renderDocument(reviewRequestPage(requestOf({ ...done, is_test: true })))).toContain("not saved");
    expect(renderDocument(reviewRequestPage(requestOf(done)))).not.toContain("not saved");
  });

  it.each(hostileTexts)("stays valid HTML with hostile text: %j", async (text) => {
    const product = { name: text, url: text, image_url: text };
    const fields = { score: text, title: text, content: text, display_name: text };
    const review = { ...written, title: text, content: text, display_name: text };
    for (const request of [{ fields }, { state: "done", review } as const]) {
      const page = renderDocument(reviewRequestPage(requestOf({ ...request, product, store_name: text })));
      expect(await findFaults(page)).toEqual([]);
      expect(page).not.toMatch(/<script|<svg onload|<img src=x|href="javascript/);
    }
  });
});

describe("isolate", () => {
  it.each([
    ["plain", "plain"],
    ["\u202Eturned", "\u202Eturned\u202C"],
    ["\u2066a\u202Eb", "\u2066a\u202Eb\u202C\u2069"],
    ["\u202Ea\u2067b\u2069c", "\u202Ea\u2067b\u2069c\u202C"],
    ["a\u2069\u202Cb", "ab"],
    ["\u2068\u202Aa\u2069\u202Cb", "\u2068\u202Aa\u2069b"],
    ["\u202A\u2066\u202Ca\u2069\u202C", "\u202A\u2066a\u2069\u202C"],
  ])("opens and closes the same number of isolates: %j", (text, balanced) => {
    expect(render(isolate(text))).toBe(`<bdi>${balanced}</bdi>`);
  });
});

describe("page policies", () => {
  it("name all sources, and who may embed the page", () => {
    for (const policy of (["public", "personal", "form"] as const).map((audience) => policyOf(audience))) {
      expect(policy).toMatch(/^default-src 'none'; style-src 'sha256-[^']+'; base-uri 'none'; form-action '/);
      expect(policy).toMatch(/frame-ancestors (?:'none'|\*)/);
      expect(policy).not.toMatch(/unsafe|script-src|connect-src/);
    }
    expect([policyOf("personal"), policyOf("form")].every((policy) => policy.includes("frame-ancestors 'none'"))).toBe(
      true,
    );
  });
});
