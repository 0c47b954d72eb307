import { type imageTypes, invalidField } from "../../contract/index.ts";

type ImageType = (typeof imageTypes)[number];

interface ImageLimits<T extends ImageType> {
  readonly types: readonly T[];
  readonly bytes: number;
}

const typeNames: Readonly<Record<ImageType, string>> = {
  "image/jpeg": "JPEG",
  "image/png": "PNG",
  "image/gif": "GIF",
  "image/webp": "WebP",
};

/**
 * Decodes a base64 image, with or without a `data:` prefix, and detects its type from its first bytes.
 * @throws ServiceError `invalidParams`
 */
export function decodeImage<T extends ImageType>(
  field: string,
  sent: string,
  { types, bytes: maxBytes }: ImageLimits<T>,
): { readonly bytes: Buffer; readonly type: T } {
  const base64 = sent.replace(/^data:[^,]{0,100};base64,/i, "");
  const bytes = Buffer.from(base64, "base64");
  // Node.js ignores invalid characters, so that fewer bytes remain, and accepts the characters of base64url.
  const isComplete = bytes.length === Buffer.byteLength(base64, "base64") && base64.length % 4 === 0;
  if (!isComplete || base64.includes("-") || base64.includes("_")) throw invalidField(field, "is not valid base64");
  if (bytes.length > maxBytes) {
    throw invalidField(field, `is larger than ${maxBytes} bytes`);
  }
  return { bytes, type: detectImageType(field, bytes, types) };
}

/**
 * Detects the type of an image from its first bytes.
 * @throws ServiceError `invalidParams` if the type is not accepted
 */
export function detectImageType<T extends ImageType>(field: string, bytes: Buffer, types: readonly T[]): T {
  const found = findType(bytes);
  const type = types.find((accepted) => accepted === found);
  if (type) return type;
  const isHeic = /^ftyp(?:hei|hev|mif1|msf1|avi)/.test(bytes.toString("latin1", 4, 12));
  const names = types.map((accepted) => typeNames[accepted]);
  throw invalidField(
    field,
    isHeic
      ? "is a HEIC or AVIF photo; convert it to JPEG"
      : `is not a ${names.slice(0, -1).join(", ")}, or ${names.at(-1)} image`,
  );
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
