// The build and the tests replace this module: see `.ci/shop-assets.js`.

/** A file that browsers load. Its name contains the hash of its content. */
export interface Asset {
  /** A value of the attribute `integrity`. */
  readonly integrity: string;
  /** The compressed text, in Base64. */
  readonly brotli: string;
  readonly gzip: string;
}

/** What the elements consist of, by the names of the files; also what the two previous versions consisted of. */
export declare const assets: Readonly<Record<string, Asset>>;

/** The script that loads the elements: the name of its file, and the same script for the URL without a hash. */
export declare const loader: Asset & { readonly name: string };

/** The files of this version that an element or a language (`en`) needs, by its name; all of them also need the loader. */
export declare const bundles: Readonly<Record<string, readonly string[]>>;
