import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { sql } from "kysely";
import sharp from "sharp";
import { openDatabase } from "../../../src/storage/database.ts";
import type { Random } from "../../fuzz/random.ts";
import type { Attack, Send, Target } from "../attack.ts";

const storageMb = 16;
const serve = ["--photo-storage", `${storageMb}MB`];
const bytesPerMb = 1_024 * 1_024;

/**
 * The median of the time that calls of another shop may take, in milliseconds. The runner checks the longest delay, without
 * the time in which other programs have the processor.
 */
const maxDelayMs = 50;
const maxMemoryMb = 400;

const fill = (random: Random, length: number) => {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at < length; at += 1) bytes[at] = random.below(256);
  return bytes;
};

/** The same for both databases, because drawing it takes seconds. */
let poolPhotoDrawn: Promise<Buffer> | undefined;

/** A PNG of 7,000 × 7,000 pixels in a few MB: its rows are slices of one random pool, which deflate shortens. */
function drawPoolPhoto(random: Random): Promise<Buffer> {
  const edge = 7_000;
  const row = edge * 3;
  const pool = fill(random, row + 600);
  const pixels = Buffer.alloc(edge * row);
  for (let y = 0; y < edge; y += 1) {
    const from = random.below(pool.length - row);
    pool.copy(pixels, y * row, from, from + row);
  }
  const raw = { width: edge, height: edge, channels: 3 } as const;
  return sharp(pixels, { raw, limitInputPixels: false }).png({ compressionLevel: 9 }).toBuffer();
}

/** A photo that cannot be compressed. */
function drawNoise(random: Random, edge: number): Promise<Buffer> {
  return sharp(fill(random, edge * edge * 3), { raw: { width: edge, height: edge, channels: 3 } })
    .jpeg({ quality: 80 })
    .toBuffer();
}

/** The size of the data, without the write-ahead log, which the driver limits to about 16 MB. */
async function readDatabaseBytes(address: string): Promise<number> {
  const { db } = await openDatabase(address, { nowMs: 0 });
  const query = address.startsWith("postgres")
    ? sql<{ bytes: number }>`select pg_database_size(current_database()) as bytes`
    : sql<{ bytes: number }>`select page_count * page_size as bytes from pragma_page_count, pragma_page_size`;
  const { rows } = await query.execute(db);
  await db.destroy();
  return rows[0]?.bytes ?? 0;
}

let reviews = 0;

/** Writes a review. @returns the token for its photos */
async function writeReview(send: Send, { account }: Target, isStore: boolean): Promise<string> {
  reviews += 1;
  const texts = { display_name: "Ann", review_title: "Good", review_content: `It pours well (${reviews}).` };
  const review = { ...texts, email: `photo${reviews}@mail.example`, review_score: 5 };
  const product = { sku: "photos", product_title: "Teapot", product_url: "https://shop.example/photos" };
  const body = { appkey: account.appKey, ...(isStore && { utoken: account.utoken }), ...product, ...review };
  const created = (await send("POST", "/v1/widget/reviews", body)).json() as Record<string, unknown>;
  const { image_upload_token } = { ...created, ...(created["response"] as object) } as { image_upload_token?: string };
  return image_upload_token ?? "";
}

const upload = (send: Send, image_upload_token: string, photo: Buffer) =>
  send("POST", "/starpost/v1/images", { image_upload_token, image: photo.toString("base64") });

/** Reads another shop's bottom line every 20 ms. @returns a function that stops, and returns how long it took */
function watchNeighbor({ sendFrom, neighbor }: Target) {
  const send = sendFrom("127.0.0.1");
  const stop = new AbortController();
  const waits: number[] = [];
  const watching = (async () => {
    while (!stop.signal.aborted) {
      const startMs = performance.now();
      await send("GET", `/products/${neighbor.appKey}/teapot/bottomline`);
      waits.push(performance.now() - startMs);
      await sleep(20);
    }
  })();
  return async () => {
    stop.abort();
    await watching;
    const sorted = waits.toSorted((a, b) => a - b);
    return { medianMs: Math.round(sorted[sorted.length >> 1] ?? 0), longestMs: Math.round(sorted.at(-1) ?? 0) };
  };
}

function readPeakMemoryMb({ pid }: Target): number {
  const [, kilobytes = "0"] = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8")) ?? [];
  return Math.round(Number(kilobytes) / 1_024);
}

export const poolPhoto: Attack = {
  name: "Freeze other shops with a photo of 49 megapixels",
  serve,
  run: async (target) => {
    const { send, random } = target;
    poolPhotoDrawn ??= drawPoolPhoto(random);
    const photo = await poolPhotoDrawn;
    const stop = watchNeighbor(target);
    // Of a stranger, and of the store, whose photo is public.
    const paths: string[] = [];
    for (const isStore of [false, true]) {
      const uploader = isStore ? target.sendFrom("127.0.0.1") : send;
      const added = await upload(uploader, await writeReview(uploader, target, isStore), photo);
      const { response } = added.json() as { response?: { image: { original_url: string } } };
      const { pathname } = new URL(response?.image.original_url ?? "https://reviews.example/none");
      paths.push(pathname);
    }
    const read = () => paths.map((path) => send("GET", path));
    const reading = [];
    for (let nth = 0; nth < 20; nth += 1) {
      reading.push(...read());
      await sleep(50);
    }
    reading.push(...Array.from({ length: 40 }, read).flat());
    const replies = await Promise.all(reading);
    const { medianMs, longestMs } = await stop();
    const count = (wanted: number) => replies.filter(({ status }) => status === wanted).length;
    const size = Math.max(0, ...replies.map(({ headers }) => Number(headers["content-length"] ?? 0)));
    const memoryMb = readPeakMemoryMb(target);
    return {
      result:
        `${photo.length} bytes stored as ${size}; photos of strangers: ${count(404)} of ${replies.length / 2} refused; ` +
        `others wait ${medianMs} to ${longestMs} ms; ${memoryMb} MB`,
      held: count(500) === 0 && count(404) * 2 === replies.length && medianMs <= maxDelayMs && memoryMb < maxMemoryMb,
    };
  },
};

export const fillStorage: Attack = {
  name: "Store more photos than the account has space for",
  serve,
  run: async (target) => {
    const { random, database } = target;
    const photo = await drawNoise(random, 1_100);
    const sizeBefore = await readDatabaseBytes(database);
    const stop = watchNeighbor(target);
    const statuses: number[] = [];
    let refusal = "";
    // Several clients, because each may upload few photos.
    for (let client = 0; client < 3; client += 1) {
      const send = target.sendFrom(`127.67.7.${client}`);
      for (let review = 0; review < 4; review += 1) {
        const token = await writeReview(send, target, false);
        for (const { status, text } of await Promise.all(Array.from({ length: 5 }, () => upload(send, token, photo)))) {
          statuses.push(status);
          if (status === 413) refusal = text;
        }
      }
    }
    const { medianMs, longestMs } = await stop();
    const grownMb = ((await readDatabaseBytes(database)) - sizeBefore) / bytesPerMb;
    const count = (wanted: number) => statuses.filter((status) => status === wanted).length;
    return {
      result:
        `${count(200)} of ${statuses.length} photos of ${photo.length} bytes stored, ${count(413)} refused at ${storageMb} MB; ` +
        `database ${grownMb.toFixed(1)} MB larger; others wait ${medianMs} to ${longestMs} ms`,
      held: count(413) > 0 && refusal.includes("photo-storage") && grownMb <= storageMb * 1.1 && medianMs <= maxDelayMs,
    };
  },
};
