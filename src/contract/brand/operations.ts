import * as z from "zod";
import { endpoint, extensionPrefix, route } from "../endpoint.ts";
import { cacheLifetimes } from "../http-limits.ts";
import { lazily } from "../lazily.ts";
import { bytes, bytesOutput } from "../reply.ts";
import { required, shape, visibleLine } from "../shapes.ts";
import { type BrandField, brandFields, type BrandSettings, fontStacks } from "./brand.ts";
import { parseColor } from "./color-contrast.ts";

export const logoTypes = ["image/png", "image/jpeg", "image/webp"] as const;

/** Assumed: larger logos slow down emails. */
export const logoLimits = { bytes: 200 * 1_024, edge: 4_096 } as const;

/** The maximum length of a logo in base64, with a `data:` prefix, in characters. */
const maxLogoText = Math.ceil((logoLimits.bytes * 4) / 3) + 100;

/** Fonts that readers have are used by their names. */
const fontPattern = /^[A-Za-z][A-Za-z0-9]*(?:[ -][A-Za-z0-9]+)*$/;
const maxFontName = 50;

const fontError = `must be ${Object.keys(fontStacks).join(", ")}, or the name of a font family in letters, digits, and spaces`;

function schemaOf(field: BrandField): z.ZodType {
  switch (field.type) {
    case "color":
      return z
        .string({ error: "must be a color, such as #0b4fb3" })
        .refine((text) => parseColor(text) !== undefined, { error: "must be a color, such as #0b4fb3" })
        .transform((text) => parseColor(text) ?? text);
    case "font":
      return z
        .string({ error: fontError })
        .max(maxFontName, { error: fontError })
        .regex(fontPattern, { error: fontError });
    case "number": {
      const error = `must be from ${field.min} to ${field.max}`;
      return shape.count.refine((value) => value >= field.min && value <= field.max, { error });
    }
    case "choice":
      return z.enum(field.choices, { error: `must be one of ${field.choices.join(", ")}` });
    case "line":
      return visibleLine(field.max).min(1, { error: "is missing" });
    case "lines":
      return required(field.max);
    default:
      return shape[field.type];
  }
}

const entries = Object.entries<BrandField>(brandFields);

/** The input of a change: a field that is not named stays. */
const changes = lazily(
  () =>
    Object.fromEntries(entries.map(([name, field]) => [name, schemaOf(field).optional()])) as {
      [N in keyof BrandSettings]: z.ZodOptional<z.ZodType<NonNullable<BrandSettings[N]>>>;
    },
);

/** The fields of a response. */
const settings = lazily(
  () =>
    Object.fromEntries(
      entries.map(([name, field]) => {
        if (field.type === "choice") return [name, z.enum(field.choices)];
        return [
          name,
          field.type === "number" ? z.number().int() : field.default === null ? z.string().nullable() : z.string(),
        ];
      }),
    ) as unknown as { [N in keyof BrandSettings]: z.ZodType<BrandSettings[N]> },
);

export const brandFieldNames = ["logo", ...(Object.keys(brandFields) as (keyof BrandSettings)[])] as const;

const output = () => ({
  brand: z.object({
    logo_url: z.string().nullable(),
    /** In pixels. */
    logo_width: z.number().int().nullable(),
    logo_height: z.number().int().nullable(),
    ...settings(),
  }),
});

const path = `${extensionPrefix}/apps/{app_key}/brand`;

export const brand = {
  show: endpoint({
    summary: "Show the brand of the account: its design of emails and pages",
    ...route("GET", path),
    effect: "read",
    output,
  }),
  set: endpoint({
    summary: "Change the brand of the account",
    ...route("PUT", path),
    effect: "repeatable",
    roles: [],
    overwrites: { question: "Change the brand of the account" },
    input: () =>
      z
        .object({
          /** A PNG, JPEG, or WebP image in base64, with or without a `data:` prefix. */
          logo: z
            .string({ error: "must be the image in base64" })
            .max(maxLogoText, { error: `is larger than ${logoLimits.bytes} bytes` })
            .optional(),
          ...changes(),
        })
        .refine((fields) => Object.values(fields).some((value) => value !== undefined), {
          error: `contains no field: set ${brandFieldNames.slice(0, -1).join(", ")}, or ${brandFieldNames.at(-1)}`,
        }),
    output,
  }),
  reset: endpoint({
    summary: "Restore the built-in design",
    ...route("DELETE", path),
    effect: "repeatable",
    roles: [],
    destroys: { question: "Restore the built-in design" },
    input: () => ({
      /** Only these fields (default: all, with the logo). */
      fields: z.array(z.enum(brandFieldNames, { error: `must be one of ${brandFieldNames.join(", ")}` })).optional(),
    }),
    output,
  }),
  logo: endpoint({
    summary: "Get the logo of the account",
    ...route("GET", `${path}/logo`),
    auth: "account",
    effect: "read",
    caching: cacheLifetimes.logos,
    output: bytesOutput,
    reply: bytes,
  }),
};
