import { contrastOf, findContrasting } from "./color-contrast.ts";

/** The languages of emails and pages (BCP 47). */
export const languages = [
  "en",
  "de",
  "fr",
  "es",
  "it",
  "nl",
  "pl",
  "sv",
  "pt-BR",
  "ja",
  "zh-Hans",
  "ar",
  "he",
] as const;
export type Language = (typeof languages)[number];

export const colorSchemes = ["auto", "light", "dark"] as const;

/**
 * A field of the brand: its valid values, and the one of the built-in design.
 * - `line`, `lines`: text without and with line breaks, of at most `max` characters
 * - `font`: a key of `fontStacks`, or the name of a font family
 */
export type BrandField =
  | { readonly type: "color" | "font"; readonly default: string }
  | { readonly type: "number"; readonly default: number; readonly min: number; readonly max: number }
  | { readonly type: "choice"; readonly default: string; readonly choices: readonly string[] }
  | { readonly type: "line" | "lines"; readonly default: null; readonly max: number }
  | { readonly type: "email" | "url"; readonly default: null };

/** What an account can set, besides its logo. The checks of calls, what is stored, and the lists of fields derive from it. */
export const brandFields = {
  /** Links and buttons. */
  accent_color: { type: "color", default: "#0b4fb3" },
  star_color: { type: "color", default: "#8a5200" },
  font: { type: "font", default: "system" },
  /** The radius of corners, in pixels. */
  radius: { type: "number", default: 6, min: 0, max: 24 },
  color_scheme: { type: "choice", default: "auto", choices: colorSchemes },
  /** The language of emails and pages whose reader has none. */
  language: { type: "choice", default: "en", choices: languages },
  /** The sender of emails, instead of the name in the mail settings. */
  sender_name: { type: "line", default: null, max: 100 },
  reply_to: { type: "email", default: null },
  postal_address: { type: "lines", default: null, max: 300 },
  privacy_url: { type: "url", default: null },
  terms_url: { type: "url", default: null },
  /** Shown at forms. */
  consent_text: { type: "lines", default: null, max: 1_000 },
} as const satisfies Readonly<Record<string, BrandField>>;

type Fields = typeof brandFields;
export type BrandFieldName = keyof Fields;

type ValueOf<F extends BrandField> = F extends { readonly choices: readonly (infer C)[] }
  ? C
  : F extends { readonly type: "number" }
    ? number
    : F extends { readonly default: null }
      ? string | null
      : string;

/** The values of an account, or those of the built-in design. */
export type BrandSettings = { readonly [N in BrandFieldName]: ValueOf<Fields[N]> };

/** A logo, with its size in pixels: that of the image, or in a `Brand`, the one at which it is shown. */
export interface BrandLogo {
  /** An absolute URL. */
  readonly logo_url: string;
  readonly logo_width: number;
  readonly logo_height: number;
}

type NullableLogo = { readonly [N in keyof BrandLogo]: BrandLogo[N] | null };

/**
 * The design of emails and pages. `accent_color` and `star_color` have enough contrast with white,
 * and `accent_text_color` with the accent; those that begin with `dark_` are for dark mode, on `brandSurfaces.dark`.
 */
export interface Brand extends BrandSettings, NullableLogo {
  /** A value of the CSS property `font-family`, without double quotes. */
  readonly font: string;
  readonly accent_text_color: string;
  readonly dark_accent_color: string;
  readonly dark_accent_text_color: string;
  readonly dark_star_color: string;
  readonly messages?: OwnMessages | undefined;
}

/** Messages of an account that replace the built-in ones, in ICU MessageFormat, by their languages and keys. */
export type OwnMessages = Readonly<Partial<Record<Language, Readonly<Record<string, string>>>>>;

/** The design of a page, and the language of its texts. */
export interface PageStyle {
  readonly brand: Brand;
  readonly language: Language;
}

/** The backgrounds of text, in light and dark mode. */
export const brandSurfaces = { light: "#ffffff", dark: "#1b1d22" } as const;

/** Minimum contrast ratios. Source: WCAG 2.2, 1.4.3 and 1.4.11. */
export const minContrast = { accent_color: 4.5, star_color: 3 } as const;
type BrandColor = keyof typeof minContrast;

/** The colors of the built-in design in dark mode. */
const builtInDark = { accent_color: "#8ab8ff", star_color: "#f0b341" } as const;

export const fontStacks: Readonly<Record<string, string>> = {
  system: "system-ui, -apple-system, 'Segoe UI', sans-serif",
  sans: "Helvetica, Arial, sans-serif",
  serif: "Georgia, 'Times New Roman', serif",
  rounded: "ui-rounded, 'Arial Rounded MT Bold', sans-serif",
  mono: "ui-monospace, Menlo, Consolas, monospace",
};

/** The values of the built-in design. */
export const builtInSettings = Object.fromEntries(
  Object.entries<BrandField>(brandFields).map(([name, field]) => [name, field.default]),
) as BrandSettings;

/** The space of a logo, in pixels. */
const logoSpace = { width: 240, height: 60 } as const;

function fitLogo({ logo_url, logo_width, logo_height }: BrandLogo): BrandLogo {
  const scale = Math.min(1, logoSpace.width / logo_width, logoSpace.height / logo_height);
  const fit = (size: number) => Math.max(1, Math.round(size * scale));
  return { logo_url, logo_width: fit(logo_width), logo_height: fit(logo_height) };
}

const noLogo = { logo_url: null, logo_width: null, logo_height: null } as const;

/** The scheme for which an account chooses its colors. */
function schemeOf({ color_scheme }: BrandSettings): keyof typeof brandSurfaces {
  return color_scheme === "dark" ? "dark" : "light";
}

/** Completes what an account has set by the values of the built-in design, and derives the rest. */
export function createBrand(own: Partial<BrandSettings>, logo: BrandLogo | undefined): Brand {
  const settings = { ...builtInSettings, ...own };
  // In the other scheme, even stars have the contrast of text, because nobody has chosen their color.
  const chosenFor = schemeOf(settings);
  const colorOn = (surface: keyof typeof brandSurfaces, name: BrandColor) =>
    surface === "dark" && settings[name] === builtInSettings[name]
      ? builtInDark[name]
      : findContrasting(settings[name], brandSurfaces[surface], surface === chosenFor ? minContrast[name] : 4.5);
  return {
    ...settings,
    ...(logo ? fitLogo(logo) : noLogo),
    font: fontStacks[settings.font] ?? `'${settings.font}', ${fontStacks["system"]}`,
    accent_color: colorOn("light", "accent_color"),
    // Each color with enough contrast on a surface has it with these, too.
    accent_text_color: "#ffffff",
    star_color: colorOn("light", "star_color"),
    dark_accent_color: colorOn("dark", "accent_color"),
    dark_accent_text_color: "#0b1a33",
    dark_star_color: colorOn("dark", "star_color"),
  };
}

/** The built-in design. */
export const defaultBrand = createBrand({}, undefined);

/**
 * Finds a color that is hard to read on the background of its scheme: dark, if the brand is always dark.
 * @returns the color with its contrast, and the nearest one that passes
 */
export function findUnreadable(own: Partial<BrandSettings>) {
  const settings = { ...builtInSettings, ...own };
  const surface = brandSurfaces[schemeOf(settings)];
  for (const [field, ratio] of Object.entries(minContrast) as [BrandColor, number][]) {
    const color = settings[field];
    const contrast = contrastOf(color, surface);
    // Those of the built-in design have other values in dark mode.
    if (contrast >= ratio || color === builtInSettings[field]) continue;
    return { field, color, contrast, ratio, surface, nearest: findContrasting(color, surface, ratio) };
  }
  return undefined;
}
