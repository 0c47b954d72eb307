import { type Language, languages } from "./brand.ts";

/** Tags of the languages in use, in lower case, for other tags. Source: RFC 5646, and the IANA registry for `iw`. */
const aliases: Readonly<Record<string, Language>> = { zh: "zh-Hans", pt: "pt-BR", iw: "he" };

/** Chinese in the traditional script, which readers of the simplified one may not know. */
const traditional = /^zh-(?:.*-)?(?:hant|tw|hk|mo)(?:-|$)/;

/**
 * Finds the language of emails and pages for a language tag (BCP 47), or a locale such as `de_AT` or `zh_CN.UTF-8`. Returns
 * undefined without one.
 */
export function matchLanguage(tag: string): Language | undefined {
  const [name = ""] = tag.trim().toLowerCase().replaceAll("_", "-").split(/[.@]/);
  if (traditional.test(name)) return undefined;
  const [primary = ""] = name.split("-");
  const known = languages.find((language) => language.toLowerCase() === name || language === primary);
  return known ?? (Object.hasOwn(aliases, primary) ? aliases[primary] : undefined);
}

/**
 * Finds the language that a client prefers. Returns undefined if it accepts none of them, or states no preference.
 * Source: RFC 9110 12.5.4, 12.4.2. Assumed: ranges with the same weight count in their order, and `*` states no preference.
 */
export function readAcceptLanguage(header: string | undefined): Language | undefined {
  const ranges = (header ?? "").split(",").flatMap((range) => {
    const [tag = "", weight = "q=1"] = range.split(";").map((part) => part.trim());
    const [, q] = /^q=(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)$/i.exec(weight) ?? [];
    const language = matchLanguage(tag);
    return language === undefined || q === undefined || Number(q) === 0 ? [] : [{ language, q: Number(q) }];
  });
  return ranges.toSorted((a, b) => b.q - a.q)[0]?.language;
}
