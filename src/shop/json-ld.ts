import type { StorefrontReviews } from "../contract/storefront/storefront.ts";

type Product = NonNullable<StorefrontReviews["product"]>;

/** Finds the ID of a Product that the page describes itself, whose rating ours then is. */
function findProductId(value: unknown): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  const { "@type": type, "@id": id } = value as { "@type"?: unknown; "@id"?: unknown };
  if (typeof id === "string" && [type].flat().includes("Product")) return id;
  return Object.values(value)
    .map(findProductId)
    .find((found) => found !== undefined);
}

const selector = 'script[type="application/ld+json"]';

/** A script that is not JSON, or is nested too deeply, has none. */
function readProductId({ textContent }: HTMLScriptElement): string | undefined {
  try {
    return findProductId(JSON.parse(textContent));
  } catch {
    return undefined;
  }
}

/** Describes the rating of a product to search engines (schema.org), once. @param loader a script that has run */
export function describeProduct(
  product: Product,
  rating: StorefrontReviews["rating"],
  loader: HTMLScriptElement | undefined,
): void {
  if (rating.total_reviews === 0 || product.product_id === "service_site_reviews") return;
  const scripts = [...document.querySelectorAll<HTMLScriptElement>(selector)];
  if (scripts.some(({ dataset }) => dataset["starpost"] === product.product_id)) return;
  const id = scripts.map(readProductId).find((found) => found !== undefined);
  const own = { name: product.name, url: product.url, image: product.image_url ?? undefined };
  // A copy of a script that has run never runs, so that Trusted Types permit any text in it.
  const script = (loader ?? document.createElement("script")).cloneNode() as HTMLScriptElement;
  for (const name of script.getAttributeNames()) script.removeAttribute(name);
  script.type = "application/ld+json";
  script.dataset["starpost"] = product.product_id;
  const data = {
    "@context": "https://schema.org",
    "@type": "Product",
    ...(id === undefined ? own : { "@id": id }),
    aggregateRating: {
      "@type": "AggregateRating",
      ratingValue: rating.average_score,
      reviewCount: rating.total_reviews,
      bestRating: 5,
      worstRating: 1,
    },
  };
  script.appendChild(document.createTextNode(JSON.stringify(data)));
  document.head.append(script);
}
