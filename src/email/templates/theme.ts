import { type Brand, brandSurfaces } from "../../contract/index.ts";

/** The colors of an email. All text has a contrast of at least 4.5:1, and stars, which are large, of 3:1. */
interface Colors {
  readonly page: string;
  readonly background: string;
  readonly text: string;
  readonly muted: string;
  readonly line: string;
  readonly edge: string;
  readonly accent: string;
  readonly on_accent: string;
  readonly star: string;
}

/** Creates the variables of templates that describe how an email looks. */
export function createTheme(brand: Brand) {
  const light: Colors = {
    page: "#f3f4f7",
    background: brandSurfaces.light,
    text: "#1b1b1f",
    muted: "#55555e",
    line: "#d5d5dc",
    edge: "#6f6f7a",
    accent: brand.accent_color,
    on_accent: brand.accent_text_color,
    star: brand.star_color,
  };
  const dark: Colors = {
    page: "#101114",
    background: brandSurfaces.dark,
    text: "#ececf1",
    muted: "#b6b6c2",
    line: "#3b3d46",
    edge: "#8d8f9b",
    accent: brand.dark_accent_color,
    on_accent: brand.dark_accent_text_color,
    star: brand.dark_star_color,
  };
  const { color_scheme } = brand;
  return {
    colors: color_scheme === "dark" ? dark : light,
    /** For clients in dark mode; null if the brand has one scheme. */
    dark_colors: color_scheme === "auto" ? dark : null,
    color_schemes: color_scheme === "auto" ? "light dark" : color_scheme,
  };
}
