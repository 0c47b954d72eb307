import { sql } from "kysely";
import { imageLimits, type imageTypes, photoLimits, type PhotoSize, ServiceError } from "../../contract/index.ts";
import type { Row } from "../../storage/tables.ts";
import { selectAccountRows, updateAccountRows, updateRows } from "../kernel/account-rows.ts";
import { createAccountWalk } from "../kernel/account-walk.ts";
import type { EngineWork, HandlerContext } from "../kernel/handler.ts";
import { processPhoto } from "./photo.ts";

/** What the row of a photo, its indexes, and its incomplete pages take up, in bytes: SQLite has pages of 4 KiB. */
const overheadBytes = 4_096;

/** The lengths that a photo is charged for: those of an earlier version have a thumbnail. */
type Sizes = Pick<Row<"review_images">, "photo_size"> & Partial<Pick<Row<"review_images">, "thumb_size">>;

const spaceOf = ({ photo_size, thumb_size }: Sizes) =>
  photo_size === null ? 0 : photo_size + (thumb_size ?? 0) + overheadBytes;

/** The space that an account uses, read before or within the transaction of an upload. */
interface SpaceContext extends Pick<HandlerContext, "photoStorageBytes"> {
  readonly transaction: Parameters<typeof selectAccountRows>[2];
}

/**
 * Checks that an account has space for one more photo. Only in a write transaction, which locks the account, is that exact.
 * @throws ServiceError `bodyTooLarge`
 */
export async function requireSpace(
  accountId: number,
  photo: Sizes,
  { transaction, photoStorageBytes: limit = photoLimits.bytesPerAccount }: SpaceContext,
): Promise<void> {
  const used = await selectAccountRows("account_versions", accountId, transaction)
    .select("photo_bytes")
    .executeTakeFirst();
  if ((used?.photo_bytes ?? 0) + spaceOf(photo) <= limit) return;
  const shown = `${Math.round(limit / 1_024 ** 2)} MB`;
  throw new ServiceError("bodyTooLarge", `the photos of the store take up the maximum of ${shown} (photo-storage)`);
}

/** The space that a photo can take up at most. */
export const largestPhoto = {
  photo_size: Object.values<number>(photoLimits.sizes).reduce((sum, bytes) => sum + bytes),
};

/** Counts photos that were stored, or that are about to be deleted (`sign` -1). */
export async function countSpace(
  accountId: number,
  photos: readonly Sizes[],
  { transaction }: Pick<HandlerContext, "transaction">,
  sign: 1 | -1 = 1,
): Promise<void> {
  const bytes = photos.reduce((sum, photo) => sum + spaceOf(photo), 0) * sign;
  if (bytes === 0) return;
  await updateAccountRows("account_versions", accountId, transaction)
    .set({ photo_bytes: sql`photo_bytes + ${bytes}` })
    .execute();
}

/** Whether an image is stored here; otherwise, it is only a URL. */
export const isStoredHere = sql<boolean>`(review_images.photo_type is not null or review_images.url is null)`;

/** The URL of an image that is not stored here, or else null. */
export const linkedUrl = sql<string | null>`case when review_images.photo_type is null then review_images.url end`;

/** The column of the largest size, or that of an earlier version. */
const largest = ["webp_1200", "photo"];
const orThumb = ["webp_1200", "thumb", "photo"];

/** A photo as text is read only up to this length, in characters. */
const maxTextLength = Math.ceil((imageLimits.bytes * 4) / 3) + 4;

/** How long a client waits for the worker to convert a photo, in milliseconds. */
const retryAfterMs = 60_000;

/**
 * Reads a photo. Its size is known before its bytes are read.
 * @throws ServiceError `unavailable` if it is long text, which the worker has not converted yet
 */
export async function readPhoto(
  { id, account_id: accountId }: Pick<Row<"review_images">, "id" | "account_id">,
  size: PhotoSize,
  { transaction }: Pick<HandlerContext, "transaction">,
): Promise<{ readonly content_type: string; readonly bytes: Uint8Array }> {
  const select = () => selectAccountRows("review_images", accountId, transaction).where("id", "=", id);
  const isLargest = size === "original" || size === "1200";
  const textOf = isLargest ? (["base64"] as const) : (["thumb_base64", "base64"] as const);
  const lengths = textOf.map((column) => sql`octet_length(${sql.ref(column)})`);
  const { content_type, photo_type, length } = await select()
    .select(["content_type", "photo_type"])
    // Not the length of the first text that exists, for which SQLite would read the text.
    .select(sql<number>`coalesce(${sql.join(lengths)}, 0)`.as("length"))
    .executeTakeFirstOrThrow();
  if (photo_type !== null) {
    const sizes = isLargest
      ? largest
      : size === "160"
        ? ["webp_160", "webp_480", ...orThumb]
        : ["webp_480", ...orThumb];
    const { bytes } = await select()
      .select(sql<Uint8Array>`coalesce(${sql.join(sizes.map((column) => sql.ref(column)))})`.as("bytes"))
      .executeTakeFirstOrThrow();
    return { content_type: photo_type, bytes };
  }
  if (length > maxTextLength) throw new ServiceError("unavailable", "the photo is being converted", { retryAfterMs });
  const { text } = await select()
    .select(sql<string>`coalesce(${sql.join(textOf.map((column) => sql.ref(column)))}, '')`.as("text"))
    .executeTakeFirstOrThrow();
  return { content_type, bytes: Buffer.from(text, "base64") };
}

/** Finds accounts with photos that an earlier version stored. */
export const findAccountsToConvert = createAccountWalk(
  (accountId) => sql`select 1 from review_images where review_images.account_id = ${accountId}
    and review_images.url is null and review_images.width is null`,
);

/** How many characters are read in one step, so that long texts delay nobody. Four of them are three bytes. */
const charactersPerStep = 4 * 1_024 ** 2;

/** Decodes a photo that is stored as text. If it is deleted meanwhile, the result is incomplete. */
async function readText(id: number, accountId: number, { read }: Pick<EngineWork, "read">): Promise<Buffer> {
  const parts: Buffer[] = [];
  for (let from = 1; ; from += charactersPerStep) {
    const text = sql<string>`substr(base64, ${from}, ${charactersPerStep})`.as("text");
    const rows = await read(({ transaction }) =>
      selectAccountRows("review_images", accountId, transaction).select(text).where("id", "=", id).execute(),
    );
    const part = Buffer.from(rows[0]?.text ?? "", "base64");
    if (part.length === 0) return Buffer.concat(parts);
    parts.push(part);
  }
}

/**
 * Converts one photo of an account that an earlier version stored, as bytes or as text, to sizes. One that cannot be decoded
 * keeps its bytes.
 * @returns 0 if none is left, or photos cannot be processed now
 */
export async function convertPhoto(accountId: number, { read, write }: EngineWork): Promise<0 | 1> {
  const found = await read(({ transaction }) =>
    selectAccountRows("review_images", accountId, transaction)
      .select(["id", "content_type", "thumb_base64", "photo_type", "photo_size", "photo", "thumb_size", "thumb"])
      .where("url", "is", null)
      .where("width", "is", null)
      .orderBy("id")
      .limit(1)
      .executeTakeFirst(),
  );
  if (!found) return 0;
  const { id, photo, ...before } = found;
  const type = before.photo_type ?? before.content_type;
  const bytes = photo ?? (await readText(id, accountId, { read }));
  const converted = await processPhoto(bytes, type as (typeof imageTypes)[number]).catch((error: unknown) => {
    if (!(error instanceof ServiceError)) throw error;
    return error.kind === "invalidParams" ? keepBytes(bytes, type, before) : undefined;
  });
  if (!converted) return 0;
  await write(accountId, async (context) => {
    const noText = { content_type: "", base64: "", thumb_base64: null };
    const changes = { ...noText, photo: null, thumb: null, thumb_size: null, ...converted };
    const isUnchanged = { account_id: accountId, id, width: null };
    if ((await updateRows("review_images", changes, isUnchanged, context)) === 0) return;
    await countSpace(accountId, [before], context, -1);
    await countSpace(accountId, [changes], context);
  });
  return 1;
}

/** A photo without sizes, of which nothing can be made. */
function keepBytes(
  photo: Uint8Array,
  photo_type: string,
  { thumb_base64, thumb: thumbBytes }: Pick<Row<"review_images">, "thumb_base64" | "thumb">,
) {
  const thumb = thumb_base64 === null ? thumbBytes : Buffer.from(thumb_base64, "base64");
  const sizes = { photo_size: photo.length, thumb_size: thumb && thumb.length };
  return { photo_type, photo, thumb, ...sizes, width: 0, height: 0 };
}
