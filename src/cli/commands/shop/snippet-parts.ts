/** Kinds of shops. */
export const platforms = ["html", "shopify", "woocommerce", "react"] as const;
export type Platform = (typeof platforms)[number];

/** Code to paste, and where. */
export interface SnippetPart {
  readonly title: string;
  readonly where: string;
  readonly code: string;
}

/** What `starpost shop snippet --json` prints. */
export interface Snippet {
  readonly for: Platform;
  readonly service: string;
  readonly app_key: string;
  readonly pinned: boolean;
  readonly parts: readonly SnippetPart[];
  /** What a content security policy of the shop must allow. */
  readonly policy: readonly PolicySources[];
}

interface PolicySources {
  readonly directive: string;
  readonly sources: readonly string[];
  readonly reason: string;
}

/** The files of one version, which browsers load only if they are unchanged. */
export interface PinnedFiles {
  readonly script: PinnedFile;
  /** Those that the script loads. */
  readonly others: readonly PinnedFile[];
  /** The hash of the import map in `script-src`. */
  readonly hashImportMap: (importMap: string) => string;
}

interface PinnedFile {
  readonly url: string;
  /** Of Subresource Integrity: `sha384-…`. */
  readonly integrity: string;
}

interface SnippetSettings {
  readonly baseUrl: string;
  readonly appKey: string;
  readonly product: string | undefined;
  readonly pinned?: PinnedFiles | undefined;
}

/** The attributes of elements about a product, as the platform writes them. */
interface ProductValues {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly image: string;
}

export function createParts(platform: Platform, settings: SnippetSettings): Snippet {
  const { baseUrl, appKey, pinned } = settings;
  const importMap = pinned && toImportMap(pinned);
  const { origin } = new URL(baseUrl);
  const hash = importMap === undefined ? [] : [pinned?.hashImportMap(importMap) ?? ""];
  return {
    for: platform,
    service: baseUrl,
    app_key: appKey,
    pinned: pinned !== undefined,
    parts: builders[platform]({ ...settings, head: formatHead(settings, importMap) }),
    policy: [
      { directive: "script-src", sources: [origin, ...hash], reason: "the script and the files that it loads" },
      { directive: "connect-src", sources: [origin], reason: "ratings, reviews, and questions" },
      {
        directive: "img-src",
        sources: [origin],
        reason: "photos; add the hosts of imported photos that are only URLs",
      },
    ],
  };
}

interface BuilderSettings extends SnippetSettings {
  /** The elements for the head of every page. */
  readonly head: string;
}

/** Without it, a browser would load changed files that the pinned script imports. */
function toImportMap({ others }: PinnedFiles): string {
  return JSON.stringify({ integrity: Object.fromEntries(others.map(({ url, integrity }) => [url, integrity])) });
}

function scriptUrl({ baseUrl, appKey, pinned }: SnippetSettings): string {
  return `${pinned?.script.url ?? `${baseUrl}/starpost/v1/elements.js`}?app_key=${encodeURIComponent(appKey)}`;
}

function formatHead(settings: SnippetSettings, importMap: string | undefined): string {
  const { pinned } = settings;
  const src = scriptUrl(settings);
  if (!pinned || importMap === undefined) return `<script type="module" src="${src}"></script>`;
  return [
    `<script type="importmap">${importMap}</script>`,
    `<script type="module" src="${src}" integrity="${pinned.script.integrity}" crossorigin></script>`,
  ].join("\n");
}

function escapeAttribute(value: string): string {
  return value.replaceAll("&", "&amp;").replaceAll('"', "&quot;").replaceAll("<", "&lt;");
}

const wherePlaces = {
  head: "in the <head> of every page, before other modules",
  list: "on collection pages, below the name of each product",
  top: "on the product page, below the name",
  page: "on the product page, below the description",
  anywhere: "anywhere, such as on the home page and in the footer",
};

/** The elements of a product page. */
function formatProductPage({ id, name, url, image }: ProductValues): string {
  return [
    `<starpost-reviews id="reviews" product="${id}" per-page="10" json-ld></starpost-reviews>`,
    `<starpost-review-form product="${id}" product-name="${name}" product-url="${url}" product-image="${image}"></starpost-review-form>`,
    `<starpost-photos product="${id}"></starpost-photos>`,
    `<starpost-questions product="${id}"></starpost-questions>`,
  ].join("\n");
}

const shopElements = `<starpost-badge></starpost-badge>\n<starpost-carousel></starpost-carousel>`;

const builders: Readonly<Record<Platform, (settings: BuilderSettings) => readonly SnippetPart[]>> = {
  html: ({ head, product }) => {
    const id = escapeAttribute(product ?? "PRODUCT_ID");
    const values = {
      id,
      name: "PRODUCT NAME",
      url: `https://shop.example/products/${id}`,
      image: `https://shop.example/images/${id}.jpg`,
    };
    return [
      { title: "Script", where: wherePlaces.head, code: head },
      {
        title: "Stars in lists",
        where: wherePlaces.list,
        code: `<starpost-rating product="${id}" href="${values.url}#reviews"></starpost-rating>`,
      },
      {
        title: "Stars",
        where: wherePlaces.top,
        code: `<starpost-rating product="${id}" href="#reviews"></starpost-rating>`,
      },
      { title: "Reviews", where: wherePlaces.page, code: formatProductPage(values) },
      { title: "The shop's rating", where: wherePlaces.anywhere, code: shopElements },
    ];
  },
  shopify: ({ head, product }) => {
    const values = {
      id: product === undefined ? "{{ product.id }}" : escapeAttribute(product),
      name: "{{ product.title | escape }}",
      url: "{{ shop.url }}{{ product.url }}",
      image: "https:{{ product.featured_image | image_url: width: 600 }}",
    };
    return [
      {
        title: "Script",
        where: "Online Store > Themes > Edit code > layout/theme.liquid, before </head>",
        code: head,
      },
      {
        title: "Stars in lists",
        where: "snippets/card-product.liquid (or your theme's product card), below the title",
        code: `<starpost-rating product="{{ card_product.id }}" href="{{ card_product.url }}#reviews"></starpost-rating>`,
      },
      {
        title: "Stars",
        where: "theme editor > product page > Product information > Add block > Custom Liquid",
        code: `<starpost-rating product="${values.id}" href="#reviews"></starpost-rating>`,
      },
      {
        title: "Reviews",
        where: "theme editor > product page > Add section > Custom Liquid",
        code: formatProductPage(values),
      },
      {
        title: "The shop's rating",
        where: "theme editor > home page > Add section > Custom Liquid",
        code: shopElements,
      },
    ];
  },
  woocommerce: ({ head, product }) => [
    {
      title: "Plugin",
      where: "save it as wp-content/mu-plugins/starpost.php (the folder may have to be created)",
      code: formatPlugin(head, product),
    },
    {
      title: "The shop's rating",
      where: "in the block editor, as a Custom HTML block",
      code: shopElements,
    },
  ],
  react: (settings) => [
    { title: "Types", where: "save it as starpost.d.ts, if you use TypeScript", code: reactTypes },
    { title: "Components", where: "save it as starpost.jsx, for React 19", code: formatReact(settings) },
    {
      title: "Usage",
      where: "on the pages of the shop",
      code: [
        `<ProductStars product={${settings.product === undefined ? "product.id" : JSON.stringify(settings.product)}} />`,
        `<ProductReviews product={${settings.product === undefined ? "product.id" : JSON.stringify(settings.product)}} name={product.name} url={product.url} image={product.image} />`,
      ].join("\n"),
    },
  ],
};

/** WooCommerce shows its own stars and rating markup unless reviews are turned off. */
function formatPlugin(head: string, product: string | undefined): string {
  const id = product === undefined ? "$product->get_id()" : `'${product.replaceAll(/[\\']/g, "\\$&")}'`;
  return `<?php
/* Plugin Name: starpost */
defined( 'ABSPATH' ) || exit;

add_action( 'wp_head', function () { ?>
${head}
<?php } );

// Replaces the stars and reviews of WooCommerce, and its markup for search engines.
add_filter( 'pre_option_woocommerce_enable_reviews', fn() => 'no' );

function starpost_rating( $href ) {
	global $product;
	printf( '<starpost-rating product="%s" href="%s"></starpost-rating>', esc_attr( ${id} ), esc_attr( $href ) );
}
add_action( 'woocommerce_after_shop_loop_item_title', fn() => starpost_rating( get_permalink() . '#reviews' ), 6 );
add_action( 'woocommerce_single_product_summary', fn() => starpost_rating( '#reviews' ), 6 );

add_action( 'woocommerce_after_single_product_summary', function () {
	$product = wc_get_product( get_the_ID() );
	$id      = esc_attr( ${id} );
	$name    = esc_attr( $product->get_name() );
	$url     = esc_url( get_permalink() );
	$image   = esc_url( wp_get_attachment_url( $product->get_image_id() ) );
	echo "<starpost-reviews id='reviews' product='$id' json-ld></starpost-reviews>
<starpost-review-form product='$id' product-name='$name' product-url='$url' product-image='$image'></starpost-review-form>
<starpost-photos product='$id'></starpost-photos>
<starpost-questions product='$id'></starpost-questions>";
}, 12 );`;
}

/** Not written into the code below, because starpost itself does not use it. */
const react = JSON.stringify("react");

const reactTypes = `import type { DetailedHTMLProps, HTMLAttributes } from ${react};

type Starpost<Own = object> = DetailedHTMLProps<HTMLAttributes<HTMLElement>, HTMLElement> & { language?: string } & Own;
type OfProduct<Own = object> = Starpost<{ product: string | number } & Own>;

declare module ${react} {
  namespace JSX {
    interface IntrinsicElements {
      "starpost-rating": OfProduct<{ href?: string }>;
      "starpost-reviews": OfProduct<{ "per-page"?: number; "json-ld"?: boolean }>;
      "starpost-review-form": OfProduct<{ "product-name"?: string; "product-url"?: string; "product-image"?: string }>;
      "starpost-questions": OfProduct;
      "starpost-photos": OfProduct;
      "starpost-carousel": Starpost<{ product?: string | number; reviews?: string }>;
      "starpost-badge": Starpost;
    }
  }
}`;

function formatReact(settings: BuilderSettings): string {
  const { pinned } = settings;
  const src = JSON.stringify(scriptUrl(settings));
  const integrity = pinned && ` integrity=${JSON.stringify(pinned.script.integrity)} crossOrigin="anonymous"`;
  const mapNote = pinned
    ? `// The HTML of the page must contain this before any module, such as in index.html:
// <script type="importmap">${toImportMap(pinned)}</script>
`
    : "";
  return `${mapNote}// React moves the script to the head, and adds it once.
function Script() {
  return <script async type="module" src=${src}${integrity ?? ""} />;
}

export function ProductStars({ product, href = "#reviews" }) {
  return (
    <>
      <Script />
      <starpost-rating product={product} href={href} />
    </>
  );
}

export function ProductReviews({ product, name, url, image }) {
  return (
    <>
      <Script />
      <starpost-reviews id="reviews" product={product} json-ld />
      <starpost-review-form product={product} product-name={name} product-url={url} product-image={image} />
      <starpost-photos product={product} />
      <starpost-questions product={product} />
    </>
  );
}`;
}
