import { sql } from "kysely";
import { brandFields } from "../contract/brand/brand.ts";
import { dayMs } from "../contract/time.ts";
import type { Service } from "../service/service.ts";
import type { Database } from "../storage/database.ts";
import { readAsset, readJson } from "./assets.ts";
import { type ProductId, productIds, products, readShopTexts, shopName } from "./products.ts";
import { composeReviews, type SampleReview } from "./sample-reviews.ts";

interface SamplePhoto {
  readonly product: ProductId;
  readonly name: string;
  readonly width: number;
  readonly height: number;
  /** The average color, as `#rrggbb`. */
  readonly color: string;
}

interface SampleQuestion {
  readonly product: ProductId;
  readonly name: string;
  readonly text: string;
  /** Those without a name are the shop's. */
  readonly answers: readonly { readonly text: string; readonly name?: string }[];
}

interface SeedSettings {
  readonly service: Service;
  readonly nowMs: number;
  /** The address of the sample shop. */
  readonly shopUrl: string;
}

interface StoredReview {
  readonly id: number;
  readonly review: SampleReview;
}

/** What calls cannot store: photos without an image codec, votes, and times in the past. */
export interface DirectRows {
  readonly reviews: readonly StoredReview[];
  readonly questions: readonly { readonly id: number; readonly askedAtMs: number }[];
}

const brand = {
  accent_color: "#2f5d50",
  star_color: "#b06f12",
  radius: 10,
  font: brandFields.font.default,
  sender_name: shopName,
  postal_address: "Kiln & Oak\n8 Mill Lane\nSample Town",
  consent_text: "I agree that my review is published with my name.",
};

/** Stores the products, reviews, and questions of the sample shop through calls of the service. */
export async function seedShop({ service, nowMs, shopUrl }: SeedSettings): Promise<DirectRows> {
  const texts = readShopTexts().en;
  const links = { privacy_url: `${shopUrl}/`, terms_url: `${shopUrl}/` };
  await service.account.set({ name: shopName, bottom_lines_delay: 0 });
  await service.brand.set({ ...brand, ...links });
  await service.account.setFeature({ feature: "questions_and_answers", enabled: true });
  const listed = productIds.map((id) => [id, describeProduct(id, shopUrl)] as const);
  await service.products.massCreate({ products: Object.fromEntries(listed) });
  const reviews = composeReviews(nowMs);
  const created = await Promise.all(
    reviews.map(async (review, at) => {
      const { product, isVerified, createdAtMs, reply } = review;
      const about =
        product === undefined
          ? { sku: "service_site_reviews", product_title: shopName, product_url: shopUrl }
          : { sku: product, product_title: texts.items[product].name, product_url: `${shopUrl}/products/${product}` };
      const { reviews: stored } = await service.reviews.createNow({
        ...about,
        display_name: review.name,
        email: `customer${at + 1}@mail.example`,
        review_title: review.title,
        review_content: review.content,
        review_score: review.score,
        past: {
          created_at: new Date(createdAtMs).toISOString(),
          reviewer_type: isVerified ? "verified_buyer" : "anonymous",
          ...(reply !== undefined && {
            comment: reply,
            comment_created_at: new Date(Math.min(nowMs, createdAtMs + 2 * dayMs)).toISOString(),
          }),
        },
      });
      return { id: stored[0]?.id ?? 0, review };
    }),
  );
  return { reviews: created, questions: await seedQuestions({ service, nowMs, shopUrl }) };
}

function describeProduct(id: ProductId, shopUrl: string) {
  const { name, text } = readShopTexts().en.items[id];
  return {
    name,
    url: `${shopUrl}/products/${id}`,
    image_url: `${shopUrl}/images/${id}.webp`,
    description: text,
    price: String(products[id].price),
    currency: "EUR",
  };
}

async function seedQuestions({ service, nowMs, shopUrl }: SeedSettings) {
  const texts = readShopTexts().en;
  const asked: { id: number; askedAtMs: number }[] = [];
  // The first one of the file is the newest.
  const questions = [...readJson<readonly SampleQuestion[]>("questions").entries()].toReversed();
  for (const [at, { product, name, text, answers }] of questions) {
    const email = `asker${at + 1}@mail.example`;
    await service.questions.sendConfirmation({
      review_content: text,
      display_name: name,
      email,
      product_id: product,
      product_title: texts.items[product].name,
      product_url: `${shopUrl}/products/${product}`,
    });
    const found = await service.questions.search({ email, state: "pending" });
    const id = found.questions[0]?.id ?? 0;
    await service.questions.setPublished({ question_id: id, published: true });
    for (const [index, answer] of answers.entries()) {
      const shopper = answer.name;
      const author = shopper === undefined ? {} : { display_name: shopper, email: `helper${at}-${index}@mail.example` };
      await service.answers.create({ question_id: id, content: answer.text, ...author });
    }
    asked.push({ id, askedAtMs: nowMs - (3 + at * 7) * dayMs });
  }
  return asked;
}

/** Stores what calls cannot, and closes the database. */
export async function storeDirectRows({ db }: Database, { reviews, questions }: DirectRows): Promise<void> {
  const photos = await readPhotos(reviews);
  try {
    await db.transaction().execute(async (transaction) => {
      for (const { id, review } of reviews) {
        const shown = photos.filter(({ review_row: row }) => row === id).length;
        await transaction
          .updateTable("reviews")
          .set({ votes_up: review.votesUp, votes_down: review.votesDown, images: shown })
          .where("id", "=", id)
          .execute();
      }
      const [account] = await transaction.selectFrom("accounts").select("id").execute();
      for (const photo of photos) {
        await transaction
          .insertInto("review_images")
          .values({ ...photo, account_id: account?.id ?? 0 })
          .execute();
      }
      for (const { id, askedAtMs } of questions) {
        await transaction.updateTable("questions").set({ created_at: askedAtMs }).where("id", "=", id).execute();
        await transaction
          .updateTable("answers")
          .set({ created_at: sql`${askedAtMs} + id % 5 * 3600000 + 7200000`, votes_up: sql`id * 7 % 12` })
          .where("question_row", "=", id)
          .execute();
      }
    });
  } finally {
    await db.destroy();
  }
}

/** Shows the photos with the best reviews of their products, one to three with each. */
async function readPhotos(reviews: DirectRows["reviews"]) {
  const all = readJson<readonly SamplePhoto[]>("photos");
  const shown = productIds.flatMap((product) => {
    const photos = all.filter((photo) => photo.product === product);
    const fans = reviews.filter(({ review }) => review.product === product && review.score >= 4);
    const newest = fans.toSorted((a, b) => b.review.createdAtMs - a.review.createdAtMs);
    // Every fourth of the reviews has two photos.
    return photos.map((photo, at) => ({ photo, fan: newest[Math.floor(at * 0.8) * 2] }));
  });
  return Promise.all(
    shown.flatMap(({ photo: { name, width, height, color }, fan }) =>
      fan === undefined
        ? []
        : [readPhoto(name, { review_row: fan.id, created_at: fan.review.createdAtMs, width, height, color })],
    ),
  );
}

async function readPhoto<T>(name: string, row: T) {
  const [webp_160, webp_480, webp_1200] = await Promise.all(
    [160, 480, 1_200].map((size) => readAsset(`photos/${name}.${size}.webp`)),
  );
  const photo_size = [webp_160, webp_480, webp_1200].reduce((sum, bytes) => sum + (bytes?.length ?? 0), 0);
  return { ...row, photo_type: "image/webp", content_type: "", base64: "", photo_size, webp_160, webp_480, webp_1200 };
}
