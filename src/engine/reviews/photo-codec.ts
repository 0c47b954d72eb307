import type { default as sharpModule, Metadata } from "sharp";
import { type imageTypes, photoLimits } from "../../contract/reviews/images.ts";

type Sharp = typeof sharpModule;
export type ImageType = (typeof imageTypes)[number];

/** A photo as it is stored: upright, without metadata, in several sizes. A size that equals the next one is null. */
export interface StoredPhoto {
  readonly photo_type: string;
  /** In bytes, of all sizes together. */
  readonly photo_size: number;
  /** Of the largest size, in pixels. */
  readonly width: number;
  readonly height: number;
  /** The average color as `#rrggbb`. */
  readonly color: string;
  readonly webp_160: Uint8Array | null;
  readonly webp_480: Uint8Array | null;
  readonly webp_1200: Uint8Array;
}

/** What becomes of a photo. */
export type PhotoReply =
  | { readonly photo: StoredPhoto }
  /** Why it is refused, as the continuation of a sentence that starts with the photo. */
  | { readonly problem: string }
  /** The package that processes photos is not installed. */
  | { readonly isMissing: true };

/**
 * Rotates a photo as its EXIF data says, removes all metadata (also the place where it was taken), and reduces it to the
 * stored sizes. Refuses one that cannot be decoded, or has too many pixels.
 * Assumed: of a GIF, the first frame is stored.
 */
export async function convertPhoto(bytes: Uint8Array, type: ImageType, load = loadSharp): Promise<PhotoReply> {
  const sharp = await load().catch(() => undefined);
  if (!sharp) return { isMissing: true };
  try {
    // Only reads the header, so a small file that expands to gigabytes is rejected before it is decoded.
    const metadata = await sharp(bytes, { limitInputPixels: false }).metadata();
    const maxPixels = countMaxPixels(metadata, type);
    if (metadata.width * metadata.height > maxPixels) {
      return { problem: `has more than ${maxPixels / 1e6} megapixels` };
    }
    const reduced = await sharp(bytes, { limitInputPixels: maxPixels, failOn: "error" })
      .autoOrient()
      .resize({ width: 1_200, height: 1_200, fit: "inside", withoutEnlargement: true })
      .toColourspace("srgb")
      .raw()
      .toBuffer({ resolveWithObject: true });
    const open = () => sharp(reduced.data, { raw: reduced.info });
    const edge = Math.max(reduced.info.width, reduced.info.height);
    const largest = await encode(open, 1_200);
    const medium = edge > 480 ? await encode(open, 480) : undefined;
    const small = edge > 160 ? await encode(open, 160) : undefined;
    const sizes = [largest, medium, small].map((size) => size?.data.length ?? 0);
    const photo = {
      photo_type: "image/webp",
      photo_size: sizes.reduce((sum, size) => sum + size),
      width: largest.info.width,
      height: largest.info.height,
      color: await averageColor(open()),
      webp_160: small?.data ?? null,
      webp_480: medium?.data ?? null,
      webp_1200: largest.data,
    };
    return { photo };
  } catch {
    return { problem: "is damaged: it cannot be decoded" };
  }
}

/** How many pixels a photo may have. Some formats take twice the memory, because they are not decoded line by line. */
function countMaxPixels({ channels, depth, isProgressive }: Metadata, type: ImageType): number {
  const isDeep = depth !== "uchar";
  const isWhole = type === "image/webp" || type === "image/gif" || (isProgressive && type === "image/jpeg");
  return Math.floor(photoLimits.decodedBytes / (channels * (isDeep || isWhole ? 2 : 1)));
}

const qualities = [80, 50] as const;

/** Renders a size of an image with at most its maximum of bytes: lowers first the quality, and then the dimensions. */
async function encode(open: () => ReturnType<Sharp>, maxEdge: keyof typeof photoLimits.sizes) {
  for (let edge: number = maxEdge; ; edge = Math.ceil(edge * 0.7)) {
    for (const quality of edge === maxEdge ? qualities : qualities.slice(1)) {
      const encoded = await open()
        .resize({ width: edge, height: edge, fit: "inside", withoutEnlargement: true })
        // More effort takes twice the time to save a few percent.
        .webp({ quality, effort: 2 })
        .toBuffer({ resolveWithObject: true });
      if (encoded.data.length <= photoLimits.sizes[maxEdge]) return encoded;
    }
  }
}

/** The average color of an image, on white where it is transparent. */
async function averageColor(image: ReturnType<Sharp>): Promise<string> {
  const pixel = await image
    .flatten({ background: "white" })
    .toColourspace("srgb")
    .resize({ width: 1, height: 1, fit: "fill" })
    .raw()
    .toBuffer();
  return `#${pixel.subarray(0, 3).toString("hex")}`;
}

async function loadSharp(): Promise<Sharp> {
  const { default: sharp } = await import("sharp");
  sharp.cache(false);
  // Leaves the other processors to calls.
  sharp.concurrency(1);
  return sharp;
}
