import { describe, expect, it } from "vitest";
import { photoProblems, type PhotoForm, type ShopperForm } from "../../../src/contract/index.ts";
import { renderDocument } from "../../../src/pages/document.ts";
import { defaultContext } from "../../../src/pages/page-context.ts";
import { photoFormPage, reviewFormPage } from "../../../src/pages/write-pages.ts";
import { hostileTexts } from "../../support/hostile-texts.ts";
import { findFaults } from "../../support/html.ts";

const product = { name: "A pot", url: "https://shop.example/pot", image_url: null };
const ready: PhotoForm = {
  state: "ready",
  is_site: false,
  product,
  review: {
    score: 4,
    title: "Pours well",
    content: "No drips.",
    display_name: "Ann T.",
    verified_buyer: false,
    created_at: "2026-03-15T12:00:00.000Z",
  },
  review_state: "public",
  is_confirmed: false,
  photos: 0,
  takes_photos: true,
  problem: null,
};

async function show(fields: Partial<PhotoForm>, context = defaultContext): Promise<string> {
  const page = renderDocument(photoFormPage({ form: { ...ready, ...fields } }, context), context);
  expect(await findFaults(page)).toEqual([]);
  return page;
}

const hasForm = (page: string) => page.includes('<input type="file"');
const hasProblem = (page: string) => page.includes('class="problems"');

describe("the page that adds photos", () => {
  it("offers a form only if a photo can be added, and always explains why one was refused", async () => {
    for (const takes_photos of [true, false]) {
      expect(hasForm(await show({ takes_photos }))).toBe(takes_photos);
      for (const problem of photoProblems) {
        const page = await show({ takes_photos, problem });
        expect([problem, hasForm(page), hasProblem(page)]).toEqual([problem, takes_photos, true]);
      }
    }
    expect(hasProblem(await show({}))).toBe(false);
  });

  it("states who can read the review", async () => {
    const said = (page: string) =>
      ["now read your review", "To publish it", "checks it before", "Follow its link"].map((text) =>
        page.includes(text),
      );
    expect(said(await show({}))).toEqual([true, false, false, true]);
    expect(said(await show({ is_confirmed: true }))).toEqual([true, false, false, false]);
    expect(said(await show({ review_state: "unconfirmed" }))).toEqual([false, true, false, false]);
    expect(said(await show({ review_state: "waiting" }))).toEqual([false, false, true, true]);
    expect(said(await show({ review_state: "waiting", is_confirmed: true }))).toEqual([false, false, true, false]);
  });
});

describe("the form for a review", () => {
  const form: ShopperForm = {
    is_site: false,
    store_name: "Tea & Cups",
    product,
    fields: { score: "", title: "", content: "", display_name: "", email: "" },
    problems: [],
    my_reviews_url: "https://shop.example/my_reviews",
  };

  it.each(hostileTexts)("stays valid HTML with hostile text that a limit refused: %j", async (hostile) => {
    const typed = { score: hostile, title: hostile, content: hostile, display_name: hostile, email: hostile };
    const refusal = { kind: "tooManyRequests", retryAfterMs: 60_000, typed } as const;
    const context = { ...defaultContext, refusal };
    const page = renderDocument(reviewFormPage({ form }, context), context);
    expect(await findFaults(page)).toEqual([]);
    expect(page).not.toMatch(/<script|<svg onload|<img src=x|href="javascript/);
  });

  it.each([
    [1, "1 minute."],
    [90 * 60_000, "90 minutes."],
    [91 * 60_000, "2 hours."],
    [24 * 60 * 60_000, "24 hours."],
  ])("rounds a wait of %d milliseconds up", (retryAfterMs, text) => {
    const context = { ...defaultContext, refusal: { kind: "tooManyRequests", retryAfterMs, typed: {} } as const };
    expect(renderDocument(reviewFormPage({ form }, context), context)).toContain(`Try again in ${text}`);
  });
});
