import { imageLimits, type imageTypes, invalidField } from "../../contract/index.ts";

type ImageType = (typeof imageTypes)[number];

/** An image in the format in which it is stored. */
interface StorableImage {
  readonly content_type: ImageType;
  readonly base64: string;
}

/**
 * Decodes a base64 image, with or without a `data:` prefix, and detects its type from its first bytes.
 * @throws ServiceError `invalidParams`
 */
export function decodeImage(sent: string): StorableImage {
  const base64 = sent.replace(/^data:[^,]{0,100};base64,/i, "");
  const image = Buffer.from(base64, "base64");
  // Node ignores invalid characters, so the result is compared with the input.
  if (image.toString("base64") !== base64) throw invalidField("image", "is not valid base64");
  if (image.length > imageLimits.bytes) {
    throw invalidField("image", `is larger than ${imageLimits.bytes} bytes`);
  }
  const content_type = findType(image);
  if (!content_type) throw invalidField("image", "is not a JPEG, PNG, GIF, or WebP image");
  return { content_type, base64 };
}

const pngStart = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
const jpegStart = Buffer.from([0xff, 0xd8, 0xff]);

function findType(image: Buffer): ImageType | undefined {
  const startsWith = (start: Buffer) => image.subarray(0, start.length).equals(start);
  const textAt = (from: number, to: number) => image.toString("latin1", from, to);
  if (startsWith(jpegStart)) return "image/jpeg";
  if (startsWith(pngStart)) return "image/png";
  if (textAt(0, 6) === "GIF87a" || textAt(0, 6) === "GIF89a") return "image/gif";
  if (textAt(0, 4) === "RIFF" && textAt(8, 12) === "WEBP") return "image/webp";
  return undefined;
}
