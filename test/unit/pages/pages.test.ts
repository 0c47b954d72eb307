import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import {
  batchMethods,
  defaultBrand,
  type ErrorKind,
  errorKinds,
  type FullSeoPage,
  languages,
  linkKinds,
  type LinkState,
  operations,
  type Photo,
  storefrontElements,
  type TopReview,
} from "../../../src/contract/index.ts";
import { policyOf, renderDocument } from "../../../src/pages/document.ts";
import { type ElementContent, renderElement } from "../../../src/pages/elements.ts";
import { errorPage } from "../../../src/pages/error-page.ts";
import { linkPage } from "../../../src/pages/link-page.ts";
import { pages, signInPage, topReviewsPage } from "../../../src/pages/pages.ts";
import { renderFragment } from "../../../src/pages/fragments.ts";
import { render } from "../../../src/pages/markup.ts";
import { createPageContext, defaultContext } from "../../../src/pages/page-context.ts";
import { stars } from "../../../src/pages/review-parts.ts";
import { seoPage } from "../../../src/pages/seo-page.ts";
import { wrapFragment, findFaults, readJsonLd } from "../../support/html.ts";
import { hostileTexts } from "../../support/hostile-texts.ts";

const review = {
  id: 1,
  title: "Lovely",
  content: "Keeps the tea\nwarm.",
  score: 4,
  display_name: "Jane D.",
  verified_buyer: true,
  anonymous: false,
  comment: null,
  created_at: "2026-03-15T23:30:00.000Z",
};

const my_reviews_url = "https://shop.example/my_reviews";

const noStars = { 1: 0, 2: 0, 3: 0, 4: 0, 5: 0 };

const pot: FullSeoPage = {
  my_reviews_url,
  page_url: "https://reviews.example/pot",
  takes_questions: true,
  star_distribution: { ...noStars, 4: 3, 5: 1 },
  pagination: { page: 1, per_page: 50, total: 4 },
  stars: null,
  sort: "newest",
  photos: [],
  questions: { pagination: { page: 1, per_page: 20, total: 0 }, total_answers: 0, questions: [] },
  product_id: "pot",
  name: "A pot",
  url: "https://shop.example/pot?a=1&b=2",
  image_url: "https://shop.example/pot.png",
  description: "It holds tea.",
  average_score: 4.25,
  total_reviews: 4,
  reviews: [review, { ...review, id: 2, title: " ", verified_buyer: false, score: 5 }],
};

const top: TopReview = {
  id: 1,
  product_id: 1,
  featured_image_id: null,
  image: 0,
  good_length: 1,
  title: "Lovely",
  content: "Keeps the tea warm.",
  score: 5,
  created_at: "2026-03-15T12:00:00.000Z",
  product_url: "https://shop.example/pot",
  image_url: null,
  product_name: "A pot",
  display_name: "Jane D.",
};

const photoOf = (url: string): Photo => ({
  id: 1,
  width: 1_200,
  height: 800,
  color: "#aabbcc",
  sizes: { 160: `${url}?size=160`, 480: `${url}?size=480`, 1200: url },
});
const answer = { id: 1, created_at: review.created_at, is_shop: true, votes_up: 2, votes_down: 0 };

const hostilePage = (text: string): FullSeoPage => ({
  ...pot,
  product_id: "pot",
  name: text,
  url: text,
  image_url: `https://shop.example/${text}`,
  description: text,
  average_score: 1,
  total_reviews: 1,
  star_distribution: { ...noStars, 1: 1 },
  reviews: [
    {
      ...review,
      title: text,
      content: text,
      display_name: text,
      comment: text,
      votes_up: 1,
      photos: [photoOf(text), { ...photoOf(text), width: null, height: null, color: null, sizes: { 1200: text } }],
      product: { product_id: text, name: text, url: text, image_url: text },
    },
  ],
  photos: [{ ...photoOf(`https://shop.example/${text}`), display_name: text }],
  questions: {
    ...pot.questions,
    questions: [
      {
        id: 1,
        content: text,
        display_name: text,
        created_at: review.created_at,
        answers: [{ ...answer, content: text, display_name: text }],
      },
    ],
  },
});

/** The overview of a store whose products have hostile texts. */
const hostileOverview = (text: string): FullSeoPage => ({
  ...hostilePage(text),
  product_id: null,
  overview: {
    pagination: { page: 2, per_page: 1, total: 3 },
    products: [{ product_id: text, name: text, url: text, image_url: text, average_score: 3.7, total_reviews: 1 }],
    latest_reviews: hostilePage(text).reviews,
  },
});

/** What a browser would take for elements that do something, or for attributes that do. */
function findDanger(page: string): string[] {
  const shown = page.replaceAll(/<script type="application\/ld\+json">[^<]*<\/script>/g, "");
  const targets = [...shown.matchAll(/\s(?:href|src|action)="(?!https?:|\?)[^"]*"/gi)];
  const tags = shown.replaceAll(/"[^"]*"/g, '""');
  const doing = [...tags.matchAll(/<script|<style(?!>\n:root)|<iframe|<[^>]*\s(?:on\w+|autofocus)\b/gi)];
  return [...targets, ...doing].map(([found]) => found);
}

describe("pages", () => {
  it("exist for exactly the operations that have HTML paths", () => {
    const named = [...operations].filter(([, { htmlPaths }]) => htmlPaths).map(([operation]) => operation);
    expect([...pages.keys()].toSorted()).toEqual(named.toSorted());
  });

  it("have only the style that their policy allows", () => {
    const style = /<style>(.*?)<\/style>/s.exec(renderDocument(seoPage({ page: pot })))?.[1] ?? "";
    const hash = createHash("sha256").update(style).digest("base64");
    for (const audience of ["public", "personal", "form"] as const)
      expect(policyOf(audience)).toContain(`style-src 'sha256-${hash}'`);
    expect(renderDocument(seoPage({ page: pot }))).not.toMatch(/ style=/);
  });
});

describe("the reviews page", () => {
  it("is valid HTML for products and stores, with and without reviews", async () => {
    const none = { average_score: 0, total_reviews: 0, reviews: [] };
    for (const page of [
      pot,
      { ...pot, product_id: null, image_url: null, description: null, url: "" },
      { ...pot, ...none },
    ]) {
      expect(await findFaults(renderDocument(seoPage({ page })))).toEqual([]);
    }
  });

  it("describes a product to search engines", () => {
    expect(readJsonLd(renderDocument(seoPage({ page: pot })))).toEqual({
      "@context": "https://schema.org",
      "@type": "Product",
      name: "A pot",
      url: "https://shop.example/pot?a=1&b=2",
      image: "https://shop.example/pot.png",
      description: "It holds tea.",
      sku: "pot",
      aggregateRating: { "@type": "AggregateRating", ratingValue: 4.25, reviewCount: 4, bestRating: 5, worstRating: 1 },
      review: [
        {
          "@type": "Review",
          author: { "@type": "Person", name: "Jane D." },
          datePublished: "2026-03-15T23:30:00.000Z",
          reviewRating: { "@type": "Rating", ratingValue: 4, bestRating: 5, worstRating: 1 },
          name: "Lovely",
          reviewBody: "Keeps the tea\nwarm.",
        },
        {
          "@type": "Review",
          author: { "@type": "Person", name: "Jane D." },
          datePublished: "2026-03-15T23:30:00.000Z",
          reviewRating: { "@type": "Rating", ratingValue: 5, bestRating: 5, worstRating: 1 },
          reviewBody: "Keeps the tea\nwarm.",
        },
      ],
    });
  });

  it("describes a store as an organization, which never has a rating, and omits a missing rating", () => {
    const none = { average_score: 0, total_reviews: 0, reviews: [] };
    const page = { ...pot, ...none, product_id: null, image_url: null, description: null };
    expect(readJsonLd(renderDocument(seoPage({ page: { ...page, reviews: pot.reviews, total_reviews: 4 } })))).toEqual(
      readJsonLd(renderDocument(seoPage({ page }))),
    );
    expect(readJsonLd(renderDocument(seoPage({ page })))).toEqual({
      "@context": "https://schema.org",
      "@type": "Organization",
      name: "A pot",
      url: "https://shop.example/pot?a=1&b=2",
    });
    expect(renderDocument(seoPage({ page }))).toContain("There are no reviews yet.");
  });

  it("shows the author, text, and date in UTC of each review", () => {
    const page = renderDocument(seoPage({ page: pot }));
    for (const shown of [
      "<title>Reviews of A pot</title>",
      '<h1 dir="auto">A pot</h1>',
      '<a href="https://shop.example/pot?a=1&amp;b=2">Go to the product</a>',
      '<img class="cover" src="https://shop.example/pot.png" alt="" width="320" height="240">',
      '<h3 dir="auto">Lovely</h3>',
      "Keeps the tea\nwarm.</p>",
      "verified buyer · <time",
      ">March 15, 2026</time>",
    ]) {
      expect(page).toContain(shown);
    }
  });

  it.each(hostileTexts)("stays valid HTML with hostile text: %j", async (text) => {
    const page = renderDocument(seoPage({ page: hostilePage(text) }));
    expect(await findFaults(page)).toEqual([]);
    expect(findDanger(page)).toEqual([]);
    expect(readJsonLd(page)).toMatchObject({
      name: text,
      description: text,
      review: [{ name: text, reviewBody: text, author: { name: text } }],
    });
    expect(readJsonLd(page)).not.toHaveProperty("url");
    expect(page).not.toContain("\u0007");
    const overview = renderDocument(seoPage({ page: hostileOverview(text) }));
    expect([await findFaults(overview), findDanger(overview)]).toEqual([[], []]);
  });

  it("links to the pages before and after, which search engines index", () => {
    const page = { ...pot, pagination: { page: 2, per_page: 50, total: 117 }, total_reviews: 117 };
    const html = renderDocument(seoPage({ page }));
    for (const shown of [
      "<title>Reviews of A pot – Page 2 of 3</title>",
      '<link rel="canonical" href="https://reviews.example/pot?page=2">',
      '<link rel="prev" href="https://reviews.example/pot">',
      '<link rel="next" href="https://reviews.example/pot?page=3">',
      '<a rel="prev" href="?#reviews">',
      '<a rel="next" href="?page=3#reviews">',
      '<a href="?stars=4#reviews">4 stars</a>',
      '<a href="https://reviews.example/pot/write">Write a review</a>',
      '<a href="https://reviews.example/pot/ask">Ask a question</a>',
    ]) {
      expect(html).toContain(shown);
    }
    expect(html).not.toContain("?stars=3");
  });

  it("is not indexed if it is filtered or sorted in another way", () => {
    for (const view of [{ stars: 4 }, { sort: "lowest" }] as const) {
      const html = renderDocument(seoPage({ page: { ...pot, ...view } }));
      expect(html).toContain('<meta name="robots" content="noindex">');
      expect(html).not.toContain("canonical");
    }
    const html = renderDocument(seoPage({ page: { ...pot, stars: 4, sort: "lowest" } }));
    expect(html).toContain('<a href="?sort=lowest#reviews">Show all reviews</a>');
    expect(html).toContain('<a href="?stars=5&amp;sort=lowest#reviews">5 stars</a>');
  });

  it("never splits a character when truncating the title", () => {
    const page = renderDocument(seoPage({ page: { ...pot, name: "💥".repeat(200) } }));
    const title = /<title>(.*?)<\/title>/s.exec(page)?.[1] ?? "";
    expect(title.length).toBeLessThanOrEqual(70);
    expect(title.isWellFormed()).toBe(true);
  });
});

describe("stars", () => {
  /** The filled part, in stars. */
  const filledOf = (score: number) => {
    const image = render(stars(score, defaultContext));
    const whole = /d="([^"]*)"\/><\/g>/.exec(image)?.[1]?.match(/M/g)?.length ?? 0;
    const [, at, width] = /<svg x="(\d+)" width="([\d.]+)"/.exec(image) ?? [];
    if (at !== undefined) expect(Number(at)).toBe(whole * 18);
    return whole + (width === undefined ? 0 : (Number(width) - 4) / 8);
  };

  it.each([0, 1, 2.5, 3.7, 3.96, 4, 4.99, 5])("are filled up to %s", (score) => {
    expect(filledOf(score)).toBeCloseTo(score, 2);
  });

  it("start at the right in languages that are written from there", () => {
    expect(render(stars(2, defaultContext))).not.toContain("transform");
    expect(render(stars(2, createPageContext(defaultBrand, "ar")))).toContain('transform="matrix(-1 0 0 1 88 0)"');
  });
});

describe("the error page", () => {
  it.each(Object.keys(errorKinds) as ErrorKind[])("%s is valid HTML in every language", async (kind) => {
    for (const language of languages) {
      const context = createPageContext(defaultBrand, language);
      const error = { kind, retryAfterSeconds: 90, requestId: "req-1", isForm: true };
      const page = renderDocument(errorPage(error, context), context);
      expect(await findFaults(page)).toEqual([]);
      expect(page).toContain("<bdi>req-1</bdi>");
    }
  });

  it("states when to try again", () => {
    const wait = (retryAfterSeconds: number) =>
      renderDocument(
        errorPage({ kind: "tooManyRequests", retryAfterSeconds, requestId: "1", isForm: false }, defaultContext),
      );
    expect(wait(1)).toContain("Try again in 1 second.");
    expect(wait(59)).toContain("Try again in 59 seconds.");
    expect(wait(601)).toContain("Try again in 11 minutes.");
  });
});

describe("the top reviews page", () => {
  it("is valid HTML with three reviews, without reviews, and with hostile text", async () => {
    const lists = [[], [top, { ...top, title: "", image_url: "https://shop.example/pot.png" }, top]];
    for (const reviews of lists) expect(await findFaults(renderDocument(topReviewsPage({ reviews })))).toEqual([]);
    for (const text of hostileTexts) {
      const hostile = { ...top, title: text, content: text, product_url: text, image_url: text };
      const page = renderDocument(topReviewsPage({ reviews: [hostile] }));
      expect([await findFaults(page), findDanger(page)]).toEqual([[], []]);
    }
  });

  it("adds microdata to each review", () => {
    const page = renderDocument(topReviewsPage({ reviews: [top, top] }));
    expect(page.match(/itemtype="https:\/\/schema\.org\/Review"/g)).toHaveLength(2);
    expect(page).toContain('<data value="5" itemprop="ratingValue">5</data>');
    expect(page).toContain('itemprop="reviewBody">Keeps the tea warm.</p>');
    expect(page.match(/itemprop="author" itemscope itemtype="https:\/\/schema\.org\/Person"/g)).toHaveLength(2);
    expect(page.match(/itemprop="itemReviewed" itemscope itemtype="https:\/\/schema\.org\/Product"/g)).toHaveLength(2);
  });
});

describe("the link page", () => {
  const states = linkKinds.flatMap((kind) =>
    (["ready", "done", "gone"] as const).map((state): LinkState => ({
      kind,
      state,
      about: "A <pot>",
      detail: "Is it <b>hot</b>?",
    })),
  );

  it.each(states)("is valid HTML: $kind, $state", async (link) => {
    const page = renderDocument(linkPage({ link }));
    expect(await findFaults(page)).toEqual([]);
    expect(page.match(/<form method="post"><button type="submit">/g) ?? []).toHaveLength(
      link.state === "ready" ? 1 : 0,
    );
    expect(page.includes("no longer works")).toBe(link.state === "gone");
    expect(page.includes("<bdi>A &lt;pot&gt;</bdi>")).toBe(link.state !== "gone");
    const showsQuestion = link.state === "ready" || (link.state === "done" && link.kind === "unsubscribe");
    expect(page.includes("Is it &lt;b&gt;hot&lt;/b&gt;?")).toBe(showsQuestion);
    expect(page).toContain('content="noindex, nofollow"');
  });
});

it("does not claim that a person has unsubscribed before the form is submitted", () => {
  const [kind, about, detail] = ["unsubscribe", "ann@mail.example", "mails after purchase"] as const;
  const ready = renderDocument(linkPage({ link: { kind, state: "ready", about, detail } }));
  expect(ready).toContain("<form");
  expect(ready).not.toMatch(/unsubscribed|no longer|Done/);
  expect(renderDocument(linkPage({ link: { kind, state: "done", about, detail } }))).toContain("You are unsubscribed");
});

describe("the sign-in page", () => {
  it("shows the signed-in account", async () => {
    const page = renderDocument(
      signInPage({ account: { app_key: "key", display_name: "Zoë <3", email: "z@shop.example" } }),
    );
    expect(await findFaults(page)).toEqual([]);
    for (const shown of ["Zoë &lt;3", "z@shop.example", "<code>key</code>"]) {
      expect(page).toContain(shown);
    }
  });

  it("handles an account without an owner and an expired link", async () => {
    const ownerless = renderDocument(signInPage({ account: { app_key: "key", display_name: null, email: null } }));
    const gone = renderDocument(signInPage({ account: null }));
    expect([await findFaults(ownerless), await findFaults(gone)]).toEqual([[], []]);
    expect(ownerless).toContain("the owner");
    expect(gone).toContain("no longer works");
  });
});

describe("storefront fragments", () => {
  const none: FullSeoPage = { ...pot, average_score: 0, total_reviews: 0, reviews: [] };

  it.each(batchMethods)("%s is valid HTML with hostile text", async (method) => {
    const all = [pot, none, { ...pot, product_id: null }, ...hostileTexts.map(hostilePage)];
    for (const page of all) {
      const piece = renderFragment(method, page);
      expect([await findFaults(wrapFragment(piece)), findDanger(piece)]).toEqual([[], []]);
    }
  });

  it("main_widget adds microdata for the product, its rating, and its reviews", () => {
    const piece = renderFragment("main_widget", pot);
    for (const type of ["Product", "AggregateRating", "Review", "Rating", "Person"]) {
      expect(piece).toContain(`itemtype="https://schema.org/${type}"`);
    }
    for (const itemprop of [
      '<meta itemprop="name" content="A pot">',
      '<data value="4.25" itemprop="ratingValue">4.25</data>',
      '<data value="4" itemprop="reviewCount">4</data>',
      'itemprop="datePublished"',
    ]) {
      expect(piece).toContain(itemprop);
    }
    expect(renderFragment("main_widget", { ...pot, product_id: null })).not.toContain("item");
  });

  it("say that there are no reviews yet, without microdata", () => {
    for (const method of batchMethods) {
      const piece = renderFragment(method, none);
      expect(piece).toContain("There are no reviews yet.");
      expect(piece).not.toContain("itemprop");
    }
  });
});

describe("elements", () => {
  const { questions } = hostilePage("Is it <hot>?");
  const list = (text: string, count = 1): NonNullable<ElementContent["list"]> => ({
    rating: { average_score: 3.7, total_reviews: count, star_distribution: { ...noStars, 4: count } },
    reviews: hostilePage(text).reviews,
  });
  const contentOf = (text: string, count?: number): ElementContent => ({
    pageUrl: "https://reviews.example/pot",
    list: list(text, count),
    photos: {
      pagination: { page: 1, per_page: 10, total: 1 },
      photos: [{ ...photoOf("https://reviews.example/1"), review: { ...review, title: text, display_name: text } }],
    },
    questions: { ...questions, pagination: { ...questions.pagination, total: 2 } },
  });

  it.each(storefrontElements)("%s is valid HTML with hostile text, and needs no styles", async (element) => {
    for (const text of hostileTexts) {
      const html = renderElement(element, contentOf(text), defaultContext);
      expect([await findFaults(wrapFragment(html)), findDanger(html)]).toEqual([[], []]);
      expect(html).not.toContain(" style=");
    }
  });

  it.each<[(typeof storefrontElements)[number], string]>([
    [
      "rating",
      '<a href="https://reviews.example/pot#reviews"><span role="img" aria-label="3.7 out of 5 from 300 reviews">',
    ],
    ["reviews", '<a href="https://reviews.example/pot?stars=4#reviews">4 stars</a>'],
    ["reviews", '<a href="https://reviews.example/pot#reviews">See all 300 reviews</a>'],
    ["carousel", '<a href="https://reviews.example/pot#reviews">See all 300 reviews</a>'],
    ["questions", '<a href="https://reviews.example/pot#questions">See all questions</a>'],
    ["photos", 'width="160" height="107"'],
    ["review-form", '<a href="https://reviews.example/pot/write">Write a review</a>'],
  ])("%s links to the rest: %s", (element, shown) => {
    expect(renderElement(element, contentOf("Nice", 300), defaultContext)).toContain(shown);
  });

  it("show photos of any shape", () => {
    const content = contentOf("Nice");
    const photos = content.photos && {
      ...content.photos,
      photos: content.photos.photos.map((photo) => ({ ...photo, width: 2, height: 1_200 })),
    };
    expect(renderElement("photos", { ...content, photos }, defaultContext)).toContain('width="1" height="160"');
  });

  it("show nothing, or that there is nothing yet", () => {
    const nothing: ElementContent = {
      pageUrl: undefined,
      list: { ...list("", 0), reviews: [] },
      photos: { pagination: { page: 1, per_page: 10, total: 0 }, photos: [] },
      questions: { ...questions, questions: [] },
    };
    const texts = storefrontElements.map((element) => renderElement(element, nothing, defaultContext));
    expect(texts.map((text) => /There are no [a-z]+ yet/.exec(text)?.[0] ?? text)).toEqual([
      "",
      "There are no reviews yet",
      "There are no questions yet",
      "There are no photos yet",
      "",
      "",
      "",
    ]);
  });
});
