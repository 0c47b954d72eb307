import * as fc from "fast-check";

/** Values that are difficult for file formats and spreadsheets. */
const oddPieces = [
  '"',
  '""',
  ",",
  ";",
  "\t",
  "|",
  "\n",
  "\r",
  "\r\n",
  " ",
  "  ",
  "\u00a0",
  "\u{feff}",
  "\u2028",
  "\u0001",
  "\u000b",
  "\u0085",
  "'",
  "\\",
  "=1+1",
  "+",
  "-",
  "@",
  "N/A",
  "null",
  "007",
  "😀",
  "👩‍👩‍👧",
  "é",
  "e\u0301",
  "ß",
  "漢字",
  "\u202e",
] as const;

const piece = fc.oneof(
  fc.constantFrom(...oddPieces),
  fc.string({ maxLength: 6 }),
  fc.string({ unit: "grapheme", maxLength: 4 }),
);

/** Any text that the service stores. */
const anyText = fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join("").replaceAll("\0", ""));
const someText = anyText.filter((text) => text.trim() !== "");
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });

/** A JSON body cannot have a key `__proto__`. */
const legalId = fc
  .oneof(
    fc.stringMatching(/^[A-Za-z0-9_-]{1,12}$/),
    fc.constantFrom("7", "007", "0", "-", "--1", "_", "N-A", "constructor", "toString"),
  )
  .filter((id) => id !== "__proto__");
const localPart = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9+'=_-]{1,5}(\.[A-Za-z0-9+'=_-]{1,4})?$/),
  fc.constantFrom("Ann", "ann", "=cmd", "jürgen", "o'neil"),
);
const email = fc.tuple(localPart, fc.constantFrom("a.example", "B.example")).map(([name, host]) => `${name}@${host}`);
const url = fc
  .tuple(fc.constantFrom("http", "https", "HTTPS"), fc.stringMatching(/^[A-Za-z0-9"',;|=?&%#-]{0,12}$/))
  .map(([scheme, path]) => `${scheme}://shop.example/${path}`);
const price = fc.oneof(
  fc.stringMatching(/^[0-9]{1,6}(\.[0-9]{1,4})?$/),
  fc.constantFrom(
    "0",
    "0.00",
    ".5",
    "12.50",
    "007.10",
    "123456789012345678901",
    "0.00000012",
    "1.00000000000000000001",
  ),
);
const currency = fc.constantFrom("EUR", "usd", "brl");
const day = fc.integer({ min: 0, max: 20_000 }).map((days) => new Date(days * 86_400_000).toISOString().slice(0, 10));
const spec = fc.oneof(
  fc.stringMatching(/^[A-Za-z0-9_-]{1,8}$/),
  fc.constantFrom("0012", " 1-2 ", "N/A", "--", "bad value"),
);
/** `external_sku` belongs to one product, so each product has its own. */
const specs = fc.record({
  upc: maybe(spec),
  mpn: maybe(spec),
  brand: maybe(spec),
  isbn: maybe(spec),
  sku: maybe(spec),
});

const product = fc.record({
  name: someText,
  url,
  image_url: maybe(url),
  description: maybe(anyText),
  currency_iso: maybe(currency),
  price: maybe(price),
  product_tags: maybe(anyText),
  blacklisted: maybe(fc.boolean()),
  specs: maybe(specs),
});

export const someProducts = fc.dictionary(legalId, product, { minKeys: 60, maxKeys: 90, noNullPrototype: true });

const orderedProduct = fc.record({
  name: someText,
  url,
  image: fc.oneof(url, fc.constant("")),
  description: maybe(anyText),
  price: maybe(price),
  product_tags: maybe(anyText),
  specs: maybe(specs),
  quantity: maybe(fc.integer({ min: 1, max: 3 })),
});

const order = fc.record({
  email,
  customer_name: someText,
  order_id: someText,
  order_date: maybe(day),
  currency_iso: maybe(currency),
  user_reference: maybe(anyText),
  products: fc.dictionary(legalId, orderedProduct, { minKeys: 1, maxKeys: 4, noNullPrototype: true }),
});

export const someOrders = fc.array(
  fc.record({
    platform: fc.constantFrom("general", "shopify", "magento"),
    orders: fc.array(order, { minLength: 1, maxLength: 25 }),
  }),
  { minLength: 6, maxLength: 8 },
);

export const someCodes = fc.uniqueArray(
  anyText.map((text) => text.trim()).filter(({ length }) => length >= 3 && length <= 64),
  { minLength: 80, maxLength: 120 },
);

export const someNames = fc.array(someText, { minLength: 20, maxLength: 40 });

export const someAddresses = fc.dictionary(
  fc.constantFrom("1", "2", "9", "10", "17"),
  fc.array(email, { minLength: 5, maxLength: 40 }),
  { minKeys: 3, noNullPrototype: true },
);

const review = fc.record({
  sku: fc.oneof(legalId, fc.constant("service_site_reviews")),
  product_title: someText,
  product_url: maybe(fc.oneof(url, fc.constant(""))),
  display_name: someText,
  email,
  review_content: someText,
  review_title: someText,
  review_score: fc.integer({ min: 1, max: 5 }),
  user_reference: maybe(anyText),
  past: fc.record({
    created_at: fc.oneof(
      day,
      fc.integer({ min: 0, max: 1_700_000_000_000 }).map((ms) => new Date(ms).toISOString()),
    ),
    published: maybe(fc.boolean()),
    comment: maybe(someText),
    reviewer_type: maybe(fc.constantFrom("anonymous", "verified_buyer", "verified_reviewer")),
  }),
});

export const someReviews = fc.array(review, { minLength: 40, maxLength: 60 });
