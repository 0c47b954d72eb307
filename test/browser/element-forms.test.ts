import { writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as wait } from "node:timers/promises";
import type { Locator, Page } from "playwright-core";
import sharp from "sharp";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { maxEmailLength, publicLimits, reviewFormLimits } from "../../src/contract/index.ts";
import { describeInBrowser, type OpenOptions, takeScreenshot } from "../support/browser.ts";
import { aReview } from "../support/builders.ts";
import { aQuestion } from "../support/emails.ts";
import { hostileTexts } from "../support/hostile-texts.ts";
import {
  checkElements,
  overflowOf,
  type Prepare,
  shopWindows,
  showElements,
  tabTo,
} from "../support/element-checks.ts";
import { sample } from "../support/suite-size.ts";
import { colorAt, takePhoto } from "../support/photos.ts";
import { addQuestions, openStorefront, type ShopPage, type Storefront } from "../support/storefront.ts";

const form = '<starpost-review-form product="pot" product-name="A teapot"></starpost-review-form>';
const questions = '<starpost-questions product="pot" per-page="3"></starpost-questions>';
const photos = '<starpost-photos product="pot" per-page="3"></starpost-photos>';
const carousel = '<starpost-carousel product="pot"></starpost-carousel>';

/** The text of what has the focus, in an element. */
const focused = (page: Page) =>
  page.evaluate<string>(`(({ ariaLabel, id, textContent }) => ariaLabel || id || textContent)(
    document.activeElement.shadowRoot.activeElement)`);

const fields = { Title: "Pours well", "Your review": "No drips.\nNone.", "Your name": "Zoë Müller" } as const;

/** Fills the form of an element, which is open. */
async function fill(page: Page, email: string): Promise<void> {
  await page.locator(".choice label").nth(3).click();
  for (const [label, text] of Object.entries(fields)) await page.getByLabel(label, { exact: true }).fill(text);
  await page.getByLabel("Your email address").fill(email);
}

describeInBrowser("elements with forms, questions, and photos", (browser) => {
  let shop: Storefront;
  let ids: { readonly question: number; readonly answer: number };
  beforeAll(async () => {
    shop = await openStorefront();
    await shop.service.brand.set({
      privacy_url: "https://shop.example/privacy",
      consent_text: "We publish your review with your first name.",
    });
    ids = await addQuestions(shop, { sku: "pot", count: 5 });
  });
  afterAll(() => shop.close());

  const open = async (content: string | ShopPage, options: OpenOptions = {}, prepare?: Prepare) => {
    const opened = await browser.open(undefined, { viewport: "desktop", ...options });
    await prepare?.(opened);
    await opened.page.goto(shop.showPage(content));
    return opened;
  };

  it.each(["en", "de", "ja", "ar"].map((lang, at) => [lang, at] as const))(
    "in %s are accessible in light, dark, and forced colors, and fit every window",
    async (lang, at) => {
      const { page, complaints } = await open({
        lang,
        body: form.replace(">", " open>") + questions + photos + carousel,
      });
      await showElements(page);
      await page.locator("starpost-review-form form button.main").click();
      await page.locator("starpost-questions .ask button").click();
      await page.locator("starpost-questions form").waitFor();
      await checkElements(page, `forms ${lang}`, at);
      await page.locator("starpost-photos a").first().click();
      await page.locator("dialog img").waitFor();
      await checkElements(page, `lightbox ${lang}`, at, sample(shopWindows, { offset: at, step: 4 }));
      expect(complaints).toEqual([]);
    },
  );

  it("write a review with a photo by keyboard", async () => {
    const { page, complaints } = await open(form);
    const path = join(tmpdir(), `starpost-photo-${process.pid}.jpg`);
    await writeFile(path, await takePhoto({ width: 3_000, height: 1_000, orientation: 6 }));
    const uploads = observeUploads(page);
    const press = async (...keys: readonly string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await page.getByRole("button", { name: "Write a review" }).waitFor();
    await press("Tab", "Enter");
    await page.getByRole("form", { name: "Write a review" }).waitFor();
    // What is missing is named, and the first of it gets the focus.
    await tabTo(page, page.getByRole("button", { name: "Submit" }));
    await press("Enter");
    expect(await page.getByRole("radiogroup").getAttribute("aria-invalid")).toBe("true");
    expect(await page.getByLabel("Title").getAttribute("aria-invalid")).toBe("true");
    expect(
      await page
        .getByRole("radio", { name: "1 star" })
        .evaluate((node: { matches(s: string): boolean }) => node.matches(":focus")),
    ).toBe(true);
    await press("ArrowRight", "ArrowRight", "ArrowRight", "Tab");
    await page.keyboard.type(fields.Title);
    await press("Tab");
    await page.keyboard.type("No drips.");
    await press("Tab");
    const [chooser] = await Promise.all([page.waitForEvent("filechooser"), press("Space")]);
    await chooser.setFiles([path, path]);
    await page.locator("canvas").nth(1).waitFor();
    await takeScreenshot(page, "element-forms-photos");
    await press("Shift+Tab", "Enter");
    expect(await focused(page)).toBe("Remove photo 1");
    await press("Tab", "Tab");
    await page.keyboard.type(fields["Your name"]);
    await press("Tab");
    await page.keyboard.type("zoe@mail.example");
    await press("Enter");
    await page.getByRole("status").getByText("Thank you for your review!").waitFor();
    await takeScreenshot(page, "element-forms-done");
    expect(await focused(page)).toContain("Thank you for your review!");
    expect(await page.getByRole("button", { name: "Write a review" }).getAttribute("aria-expanded")).toBe("false");

    const { reviews } = await shop.service.reviews.widget({ product_id: "pot", per_page: 1 });
    expect(reviews).toMatchObject([
      { title: "Pours well", content: "No drips.", score: 4, user: { display_name: "Zoë M." } },
    ]);
    expect(uploads).toMatchObject([{ status: 200 }]);
    const image = Buffer.from(uploads[0]?.image.split(",")[1] ?? "", "base64");
    const { format, width, height, exif } = await sharp(image).metadata();
    expect([format, width, height, exif]).toEqual(["jpeg", 683, 2_048, undefined]);
    expect([await colorAt(image, 300, 100), await colorAt(image, 300, 1_900)]).toEqual(["red", "blue"]);
    expect(complaints).toEqual([]);
  });

  it("ask a question by keyboard, which waits for its confirmation", async () => {
    const { page, complaints } = await open(questions.replace("pot", "kettle"));
    await page.getByText("No questions yet.").waitFor();
    await tabTo(page, page.getByRole("button", { name: "Ask a question" }));
    await page.keyboard.press("Enter");
    for (const [label, text] of [
      ["Your question", "Is it <b>loud</b>?"],
      ["Your name", "Ann Tea"],
      ["Your email address", "not an address"],
    ] as const) {
      await tabTo(page, page.getByLabel(label));
      await page.keyboard.type(text);
    }
    await page.keyboard.press("Enter");
    await page.getByText("Enter an email address").waitFor();
    expect(await focused(page)).toBe("email");
    await page.getByLabel("Your email address").fill("ann@mail.example");
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("open the link in it").waitFor();
    const { questions: pending } = await shop.service.questions.search({ state: "pending", product_id: "kettle" });
    expect(pending).toMatchObject([
      { content: "Is it <b>loud</b>?", email: "ann@mail.example", product_title: "Teapot" },
    ]);
    expect(complaints).toEqual([]);
  });

  it("page through questions and vote for answers by keyboard", async () => {
    const { page } = await open(questions);
    const asked = page.locator(".question");
    await page.getByText("5 questions").waitFor();
    expect(await asked.count()).toBe(3);
    await tabTo(page, page.getByRole("button", { name: "More questions" }));
    await page.keyboard.press("Enter");
    await page.getByText("Question 0").waitFor();
    expect(await asked.count()).toBe(5);
    expect(await focused(page)).toContain("Question 1");
    expect(await page.getByRole("button", { name: "More questions" }).count()).toBe(0);
    await tabTo(page, page.getByRole("button", { name: /^Helpful · 0/ }).first());
    await page.keyboard.press("Enter");
    await page.getByRole("status").getByText("Thank you for your vote.").waitFor();
    expect(await focused(page)).toBe("Helpful · 1");
    const { questions: stored } = await shop.service.questions.list({ sku: "pot" });
    const answer = stored.flatMap((question) => question.sorted_public_answers).find(({ id }) => id === ids.answer);
    expect(answer?.votes_up).toBe(1);
  });

  it("show photos in a lightbox by keyboard, and return the focus", async () => {
    const { page, complaints } = await open(photos);
    const link = page.getByRole("link", { name: "Photo 2 of" });
    await tabTo(page, link);
    await page.keyboard.press("Enter");
    const dialog = page.getByRole("dialog", { name: "Photos from customers" });
    await dialog.getByText("Photo 2 of").waitFor();
    await page.keyboard.press("ArrowRight");
    await dialog.getByText("Photo 3 of").waitFor();
    await page.keyboard.press("ArrowRight");
    await dialog.getByText("Photo 1 of").waitFor();
    await page.keyboard.press("ArrowLeft");
    await dialog.getByText("Photo 3 of").waitFor();
    await swipe(page, 400, 300);
    await dialog.getByText("Photo 1 of").waitFor();
    await swipe(page, 300, 400);
    await dialog.getByText("Photo 3 of").waitFor();
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    expect(await link.evaluate((node: { matches(s: string): boolean }) => node.matches(":focus"))).toBe(true);
    await page.getByRole("button", { name: "More photos" }).press("Enter");
    await page.getByRole("link", { name: "Photo 4 of" }).click();
    await dialog.getByText("Photo 4 of").waitFor();
    await page.getByRole("button", { name: "Close" }).click();
    await dialog.waitFor({ state: "detached" });
    expect(complaints).toEqual([]);
  });

  it("move a carousel only on request", async () => {
    const { page, complaints } = await open(carousel, {}, ({ page: opened }) =>
      opened.emulateMedia({ reducedMotion: "reduce" }),
    );
    const cards = page.getByRole("list", { name: "Reviews from customers" });
    const [previous, next] = ["Previous reviews", "Next reviews"].map((name) => page.getByRole("button", { name })) as [
      Locator,
      Locator,
    ];
    const left = () => cards.evaluate((node: { scrollLeft: number }) => node.scrollLeft);
    await cards.waitFor();
    expect(await page.locator("starpost-carousel li").count()).toBe(12);
    await expect.poll(() => previous.getAttribute("aria-disabled")).toBe("true");
    expect(await left()).toBe(0);
    await tabTo(page, next);
    await page.keyboard.press("Enter");
    expect(await left()).toBeGreaterThan(500);
    await expect.poll(() => previous.getAttribute("aria-disabled")).toBeNull();
    await page.keyboard.press("Shift+Tab");
    await page.keyboard.press("Enter");
    expect(await left()).toBe(0);
    const { reviews } = await shop.service.reviews.widget({ product_id: "pot", per_page: 3 });
    const chosen = reviews.map(({ id }) => id);
    await page.goto(shop.showPage(`<starpost-carousel reviews="${chosen.join(", ")}"></starpost-carousel>`));
    await cards.waitFor();
    expect(await page.locator("starpost-carousel li").count()).toBe(3);
    expect(complaints).toEqual([]);
  });

  it("keep what was entered when the service fails or refuses it", async () => {
    const { page, context } = await open(form);
    await page.getByRole("button", { name: "Write a review" }).click();
    await fill(page, "zoe2@mail.example");
    const kept = async () =>
      Promise.all(Object.keys(fields).map((label) => page.getByLabel(label, { exact: true }).inputValue()));
    const submit = () => page.getByRole("button", { name: "Submit" }).click();
    const path = "**/v1/widget/reviews";
    await context.route(path, (route) => route.abort());
    await submit();
    await page.getByText("That did not work.").waitFor();
    expect(await kept()).toEqual(Object.values(fields));
    await context.unroute(path);
    await page.evaluate(`document.querySelector("starpost-review-form").setAttribute("product", "pot")`);
    await wait(100);
    expect(await kept()).toEqual(Object.values(fields));
    await page.getByLabel("Your email address").fill("zoe..m@mail.example");
    await submit();
    await page.getByRole("status").getByText("That was not accepted.").waitFor();
    expect(await focused(page)).toBe("email");
    await page.getByLabel("Your email address").fill("zoe2@mail.example");
    await submit();
    await page.getByText("Thank you for your review!").waitFor();
  });

  it("store a review once if its response was lost", async () => {
    const { page, context } = await open(form);
    const submit = () => page.getByRole("button", { name: "Submit" }).click();
    const countStored = async () => {
      const { reviews } = await shop.service.reviews.list({ count: 100 });
      return reviews.filter(({ email }) => email === "lost@mail.example").length;
    };
    const path = "**/v1/widget/reviews";
    await page.getByRole("button", { name: "Write a review" }).click();
    await fill(page, "lost@mail.example");
    await context.route(path, async (route) => {
      await route.fetch();
      await route.abort();
    });
    await submit();
    await page.getByText("That did not work.").waitFor();
    expect(await countStored()).toBe(1);
    await context.unroute(path);
    await submit();
    await page.getByText("Thank you for your review!").waitFor();
    expect(await countStored()).toBe(1);
    // A new form is another review.
    await page.getByRole("button", { name: "Write a review" }).click();
    await fill(page, "lost@mail.example");
    await submit();
    await page.getByText("Thank you for your review!").waitFor();
    expect(await countStored()).toBe(2);
  });

  it("keep what was entered when the language or the product changes", async () => {
    const { page, complaints } = await open(form + questions);
    const set = (name: string, value: string) =>
      page.evaluate(`for (const one of document.querySelectorAll("starpost-review-form, starpost-questions"))
        one.setAttribute("${name}", "${value}")`);
    await page.getByRole("button", { name: "Write a review" }).click();
    await fill(page, "kept@mail.example");
    const photo = await takePhoto();
    const files = [0, 1].map((at) => ({ name: `${at}.jpg`, mimeType: "image/jpeg", buffer: photo }));
    await page.getByLabel("Add photos").setInputFiles(files);
    await page.locator("canvas").nth(1).waitFor();
    await page.getByRole("button", { name: "Ask a question" }).click();
    await page.getByLabel("Your question").fill("Is it\nkept?");

    await set("language", "de");
    const title = page.getByLabel("Titel", { exact: true });
    await title.waitFor();
    await expect.poll(() => page.locator("canvas").count()).toBe(2);
    await page.getByRole("button", { name: "Foto 1 entfernen" }).click();
    expect(
      await page.locator("#review_content").evaluateAll((all: { value: string }[]) => all.map((one) => one.value)),
    ).toEqual([fields["Your review"], "Is it\nkept?"]);
    await takeScreenshot(page, "element-forms-kept");
    // A form that the shopper has closed stays closed, and keeps its text.
    await page.getByRole("button", { name: "Bewertung schreiben" }).click();
    await set("product", "lid");
    await page.getByText("Noch keine Fragen").waitFor();
    await wait(100);
    expect(await title.isVisible()).toBe(false);
    await page.getByRole("button", { name: "Bewertung schreiben" }).click();
    expect(await title.inputValue()).toBe(fields.Title);
    const uploads = observeUploads(page);
    await page.getByRole("form").first().getByRole("button", { name: "Absenden" }).click();
    await page.getByText("Vielen Dank für Ihre Bewertung").waitFor();
    const { reviews } = await shop.service.reviews.widget({ product_id: "lid" });
    expect(reviews).toMatchObject([{ title: fields.Title, content: fields["Your review"], score: 4 }]);
    expect(uploads).toMatchObject([{ status: 200 }]);
    expect(complaints).toEqual([]);
  });

  it("accept texts as long as the service does", async () => {
    const { page } = await open(form + questions);
    await page.getByRole("button", { name: "Write a review" }).click();
    await page.getByRole("button", { name: "Ask a question" }).click();
    await page.getByLabel("Your question").waitFor();
    await page.getByLabel("Title").waitFor();
    const lengths = await page
      .locator("input:not([type=radio], [type=file]), textarea")
      .evaluateAll((all: { id: string; maxLength: number }[]) => all.map(({ id, maxLength }) => [id, maxLength]));
    const { title, content, display_name } = reviewFormLimits;
    const person = [
      ["display_name", display_name],
      ["email", maxEmailLength],
    ];
    const review = [["review_title", title], ["review_content", content], ...person];
    expect(lengths).toEqual([...review, ["review_content", content], ...person]);
  });

  it("add the photos again that failed", async () => {
    const { page, context } = await open(form);
    await page.getByRole("button", { name: "Write a review" }).click();
    await fill(page, "zoe3@mail.example");
    const photo = await takePhoto();
    const file = (name: string, buffer: Buffer) => ({ name, mimeType: "image/jpeg", buffer });
    await page.getByLabel("Add photos").setInputFiles([file("<b>note</b>.txt", Buffer.from("no photo"))]);
    await page.getByText("<b>note</b>.txt cannot be used as a photo.").waitFor();
    await page.getByLabel("Add photos").setInputFiles(Array.from({ length: 6 }, (_, at) => file(`${at}.jpg`, photo)));
    await expect.poll(() => page.locator("canvas").count()).toBe(5);
    const uploads = observeUploads(page);
    await context.route("**/v1/images", (route) => (uploads.length === 2 ? route.abort() : route.continue()));
    await page.getByRole("button", { name: "Submit" }).click();
    await page.getByText("not all of its photos").waitFor();
    await context.unroute("**/v1/images");
    await page.getByRole("button", { name: "Try again" }).press("Enter");
    await page.getByText("Thank you for your review!").waitFor();
    expect(uploads.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
  });

  describe("with limits", () => {
    const limited: Storefront[] = [];
    const openLimited = async () => {
      const opened = await openStorefront({ publicLimits, isEmpty: true });
      limited.push(opened);
      return opened;
    };
    afterAll(() => Promise.all(limited.map((one) => one.close())));

    /** Submits reviews with the API until one is refused, or as many as given. @returns how many were accepted */
    const submit = async ({ url, appKey }: Storefront, most: number): Promise<number> => {
      for (let at = 0; at < most; at += 1) {
        const body = JSON.stringify({ ...aReview({ sku: "pot", email: `api${at}@mail.example` }), appkey: appKey });
        const headers = { "content-type": "application/json" };
        const { status } = await fetch(`${url}/v1/widget/reviews`, { method: "POST", headers, body });
        if (status === 429) return at;
      }
      return most;
    };

    it("explain a 429 response at the same call as through the API, and keep the text", async () => {
      const accepted = await submit(await openLimited(), 100);
      expect(accepted).toBe(publicLimits["submissions-per-client"].burst);
      const other = await openLimited();
      expect(await submit(other, accepted - 1)).toBe(accepted - 1);
      const { page } = await browser.open(other.showPage(form));
      await page.getByRole("button", { name: "Write a review" }).click();
      await fill(page, "last@mail.example");
      await page.getByRole("button", { name: "Submit" }).click();
      await page.getByText("Thank you for your review!").waitFor();
      await page.getByRole("button", { name: "Write a review" }).click();
      await fill(page, "more@mail.example");
      await page.getByRole("button", { name: "Submit" }).click();
      await page
        .getByRole("status")
        .getByText(/Too many attempts. Try again in [23] minutes. What you entered is still here./)
        .waitFor();
      await takeScreenshot(page, "element-forms-limit");
      expect(await page.getByLabel("Title").inputValue()).toBe(fields.Title);
    });

    const few = { burst: 2, perHour: 2 };
    const openFew = async () => {
      const opened = await openStorefront({
        isEmpty: true,
        publicLimits: { "submissions-per-client": few, "votes-per-client": few, "images-per-client": few },
      });
      limited.push(opened);
      const write = (at: number) =>
        opened.service.reviews.createNow(aReview({ sku: "pot", email: `ann${at}@mail.example` }));
      const written = await Promise.all([1, 2, 3, 4].map(write));
      return { ...opened, reviewIds: written.map(({ reviews }) => reviews[0]?.id ?? 0) };
    };
    /** Calls the API until it refuses. @returns how many calls it accepted */
    const countAccepted = async (url: string, bodyOf?: (at: number) => object): Promise<number> => {
      const headers = { "content-type": "application/json" };
      for (let at = 0; at < 10; at += 1) {
        const post = bodyOf && { method: "POST", headers, body: JSON.stringify(bodyOf(at)) };
        const { status } = await fetch(url, post);
        if (status === 429) return at;
        expect(status).toBe(200);
      }
      throw new Error("no limit");
    };

    it("get a 429 response for questions, votes, and photos at the same call as through the API", async () => {
      const [api, shown] = await Promise.all([openFew(), openFew()]);
      const votes = await countAccepted(`${api.url}/reviews/${api.reviewIds[0]}/vote/up`);
      const asked = await countAccepted(`${api.url}/questions/send_confirmation_mail`, (at) => ({
        ...aQuestion({ product_id: "pot", email: `ann${at}@mail.example` }),
        appkey: api.appKey,
      }));
      const { image_upload_token } = await api.service.reviews.create(aReview({ sku: "pot" }));
      const image = (await takePhoto()).toString("base64");
      const added = await countAccepted(`${api.url}/starpost/v1/images`, () => ({ image_upload_token, image }));
      expect([votes, asked, added]).toEqual([2, 2, 2]);

      const { page } = await browser.open(
        shown.showPage(`<starpost-reviews product="pot"></starpost-reviews>${questions}${form}`),
      );
      const up = page.getByRole("button", { name: /^Helpful/ });
      for (let at = 0; at < votes; at += 1) {
        await up.nth(at).click();
        await page.getByText("Helpful · 1", { exact: true }).nth(at).waitFor();
      }
      await up.nth(votes).click();
      await page.getByRole("alert").getByText("Too many attempts.").waitFor();
      // Reviews and questions count together.
      await page.getByRole("button", { name: "Write a review" }).click();
      await fill(page, "photos@mail.example");
      const buffer = await takePhoto();
      const files = Array.from({ length: added + 1 }, (_, at) => ({
        name: `${at}.jpg`,
        mimeType: "image/jpeg",
        buffer,
      }));
      await page.getByLabel("Add photos").setInputFiles(files);
      const uploads = observeUploads(page);
      await page.locator("starpost-review-form form .main").click();
      await page.getByText(/not all of its photos.*Too many attempts/).waitFor();
      expect(uploads.map(({ status }) => status)).toEqual([...Array.from({ length: added }, () => 200), 429]);
      const ask = page.locator("starpost-questions form");
      const askAgain = async (email: string) => {
        await page.getByRole("button", { name: "Ask a question" }).click();
        await ask.getByLabel("Your question").fill("Does it pour?");
        await ask.getByLabel("Your name").fill("Ann");
        await ask.getByLabel("Your email address").fill(email);
        await ask.locator(".main").click();
      };
      await askAgain("q1@mail.example");
      await page.getByText("open the link in it").waitFor();
      await askAgain("q2@mail.example");
      await ask.getByText("Too many attempts.").waitFor();
      expect(await ask.getByLabel("Your question").inputValue()).toBe("Does it pour?");
    });
  });

  it("show hostile texts as texts", async () => {
    const hostile = await openStorefront({ isEmpty: true });
    const texts = hostileTexts.join(" ");
    await hostile.service.brand.set({ consent_text: texts.replaceAll(/[\p{Cc}\p{Cf}]/gu, "").slice(0, 900) });
    for (const text of hostileTexts) {
      const { image_upload_token } = await hostile.service.reviews.create(
        aReview({ sku: "bad", product_title: text, display_name: text, review_title: text, review_content: text }),
      );
      const photo = await takePhoto({ width: 30, height: 30 });
      await hostile.service.images.upload({ image_upload_token, image: photo.toString("base64") });
      await addQuestions(hostile, { sku: "bad", count: 1, text });
    }
    const body = `<starpost-review-form open product="bad"></starpost-review-form><starpost-questions product="bad" per-page="50"></starpost-questions>
      <starpost-photos product="bad" per-page="50"></starpost-photos><starpost-carousel product="bad"></starpost-carousel>`;
    const { page, complaints } = await browser.open(hostile.showPage(body), { viewport: "phone" });
    await showElements(page);
    await page.getByRole("form").waitFor();
    expect(await page.locator(".question").count()).toBe(hostileTexts.length);
    await page.getByRole("link", { name: "Photo 1 of" }).first().click();
    const said = page.locator("dialog .text");
    const shown = [(await said.textContent()) ?? ""];
    while (shown.length < hostileTexts.length) {
      await page.keyboard.press("ArrowRight");
      shown.push((await said.textContent()) ?? "");
    }
    expect(shown.toSorted()).toEqual(hostileTexts.toSorted());
    await page.keyboard.press("Escape");
    expect(await page.evaluate("globalThis.hacked")).toBeUndefined();
    expect(await overflowOf(page)).toBeLessThanOrEqual(0);
    expect(complaints).toEqual([]);
    await hostile.close();
  });

  it("keep no space for the nodes of the page if they are replaced below the visible part", async () => {
    // The policy of the page allows no style attributes.
    const lines = (count: number) => "<p>From the server</p>".repeat(count);
    const { page } = await open(`${lines(60)}${photos.replace("></", `>${lines(120)}</`)}<footer>The end</footer>`);
    await page.evaluate("scrollBy(0, document.querySelector('starpost-photos').offsetTop - innerHeight - 50)");
    await page.locator("starpost-photos h2").waitFor();
    expect(await page.locator("starpost-photos").evaluate(({ scrollHeight }) => scrollHeight)).toBeLessThan(2_000);
  });

  it("show what the page has placed inside them if the service fails, and little of an unknown product", async () => {
    const body = [questions, photos, carousel].map((one) => one.replace("></", "><p>From the server</p></")).join("");
    const { page } = await open(body, {}, ({ context }) =>
      context.route(/\/(?:questions|photos|reviews)\?/, (route) => route.fulfill({ status: 503, body: "{}" })),
    );
    await showElements(page);
    expect(await page.getByText("From the server").count()).toBe(3);
    expect(await page.getByText("From the server").last().isVisible()).toBe(true);
    const unknown = await open(body.replaceAll('"pot"', '"unknown"'));
    await showElements(unknown.page);
    await unknown.page.getByText("No questions yet.").waitFor();
    await unknown.page.getByText("No photos yet.").waitFor();
    expect(await unknown.page.getByText("From the server").last().isVisible()).toBe(false);
    expect(unknown.complaints).toEqual([]);
  });
});

/** Moves a finger from one place to another. */
async function swipe(page: Page, from: number, to: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const touch = (type: "touchStart" | "touchMove" | "touchEnd", ...places: readonly number[]) =>
    session.send("Input.dispatchTouchEvent", { type, touchPoints: places.map((x) => ({ x, y: 450 })) });
  await touch("touchStart", from);
  await touch("touchMove", to);
  await touch("touchEnd");
}

/** The photos that a page uploads, in Base64, and the status of the response. */
function observeUploads(page: Page): readonly { readonly image: string; readonly status: number }[] {
  const uploads: { image: string; status: number }[] = [];
  page.on("response", (response) => {
    const request = response.request();
    if (!request.url().endsWith("/starpost/v1/images") || request.method() !== "POST") return;
    uploads.push({ ...(request.postDataJSON() as { image: string }), status: response.status() });
  });
  return uploads;
}
