/** Help that is not about a single command. */
export interface Topic {
  readonly name: string;
  readonly summary: string;
  /** A string is a paragraph, `rows` are terms with descriptions, and `lines` are shown without wrapping. */
  readonly blocks: readonly Block[];
}

/** A term with its description. */
export type Entry = readonly [term: string, description: string];

export type Block = string | { readonly rows: readonly Entry[] } | { readonly lines: readonly string[] };

const texts: Readonly<Record<string, Omit<Topic, "name">>> = {
  /** Scripts rely on these statuses. */
  "exit-statuses": {
    summary: "exit statuses and error output",
    blocks: [
      {
        rows: [
          ["0", "success; everything accepted"],
          ["1", "failed for another reason"],
          ["2", "usage error: unknown flag, missing argument, file not found, unrecognized header"],
          ["3", "finished with some rows rejected"],
          ["4", "not signed in, or credentials rejected"],
          ["5", "temporary failure (timeout, service unavailable); resumable"],
          ["6", "stopped by --max-errors"],
          ["7", "`verify` found rows missing from the service"],
          ["130", "interrupted; resumable"],
        ],
      },
      "An error is printed to standard error as a message and a hint. With --json, it is one JSON document:",
      { lines: ['{"error":{"kind":"usage","message":"…","hint":"…"}}'] },
      "Standard output carries only data, even if the command fails.",
      {
        lines: ["starpost orders import orders.csv --json > run.json", "[ $? -eq 3 ] && jq -r .rejects_file run.json"],
      },
    ],
  },
  environment: {
    summary: "environment variables",
    blocks: [
      "Precedence: flag, environment, profile, default. An empty variable counts as unset.",
      {
        rows: [
          [
            "STARPOST_HOME",
            "one folder for configuration, embedded database, import runs, and outbox (default: the platform's folders)",
          ],
          ["STARPOST_PROFILE", "profile to use (default: the current profile; `local` on a fresh machine)"],
          [
            "STARPOST_DATABASE",
            "database of the local profile: a SQLite file, or postgres://user:password@host/database",
          ],
          ["STARPOST_DATABASE_READER", "URL of a PostgreSQL replica, for storefront reads of `starpost serve`"],
          ["STARPOST_DATABASE_POOL", "maximum number of connections to PostgreSQL, 2 to 1000 (default: 10)"],
          ["STARPOST_DATABASE_POOL_WAIT", "seconds that a call waits for one of them, 0 to 300 (default: 10)"],
          [
            "STARPOST_BASE_URL, STARPOST_APP_KEY, STARPOST_SECRET",
            "set together: an account of a remote service, without a login",
          ],
          ["STARPOST_UTOKEN", "access token of that account, in addition to or instead of the secret"],
          ["STARPOST_BY", "name under which changes are recorded (default: that of the profile, or the user's name)"],
          ["STARPOST_KEYRING", "`off` stores secrets in a file instead of the system keyring"],
          [
            "STARPOST_PUBLIC_URL",
            "base URL for links in emails and on pages (default: the address of `starpost serve`)",
          ],
          ["STARPOST_PUBLIC_LIMITS, STARPOST_TRUST_PROXY", "defaults of these flags of `starpost serve`"],
          [
            "STARPOST_KEY",
            "key that encrypts account secrets: 32 bytes, hexadecimal or base64 (default: the key file)",
          ],
          ["STARPOST_SMTP_HOST, _PORT, _TLS, _USER, _PASSWORD", "SMTP server; overrides `starpost mail configure`"],
          ["STARPOST_MAIL_FROM", "sender of emails; used with the SMTP variables"],
          [
            "STARPOST_DNS_SERVER",
            "DNS server for `starpost mail dkim check` and `doctor` (default: that of the system)",
          ],
          ["STARPOST_ALLOW_PRIVATE_WEBHOOKS", "`on` allows webhooks to private network addresses"],
          [
            "STARPOST_REDACT",
            "hide email addresses and names of people in all output, like --redact; disabled by 0, false, or no",
          ],
          ["CI", "if set, never prompt, like --no-input"],
          ["HTTPS_PROXY, HTTP_PROXY, ALL_PROXY, NO_PROXY", "proxy for remote services, and hosts that bypass it"],
          ["NODE_EXTRA_CA_CERTS", "file with additional certificate authorities to trust"],
          ["NODE_DISABLE_COMPILE_CACHE", "1 disables the cache of compiled code that speeds up startup"],
          [
            "STARPOST_PAGER, PAGER",
            "pager for long tables on a terminal (default: less); `cat` or an empty value disables it",
          ],
          ["NO_COLOR, FORCE_COLOR", "disable colors, or enable them even without a terminal"],
        ],
      },
      "Secrets are never passed as flags. They are read from a prompt, standard input, or the environment.",
      { lines: ["export STARPOST_HOME=/srv/starpost", "starpost auth status"] },
    ],
  },
  layouts: {
    summary: "importing the exports of shop platforms",
    blocks: [
      "The layout of a file is detected from its header and reported. If the header is ambiguous, set --layout to the name of a layout or platform.",
      {
        rows: [
          ["none, native", "starpost's own columns: order_id, email, …"],
          ["catalog", "product catalog of other review services"],
          ["shopify-orders, shopify-products", "Shopify: Orders or Products, then Export"],
          ["shopify-variants", "the same, with one product per variant; never detected"],
          ["woocommerce-orders, woocommerce-products", "WooCommerce and its export extensions"],
          ["magento-orders, magento-products", "Magento 1 and 2, Adobe Commerce"],
          ["magento1-products", "Magento 1: System, Import/Export, Export"],
          ["bigcommerce-orders, bigcommerce-products", "BigCommerce: Orders or Products, then Export"],
          ["judgeme, loox, okendo, opinew, ryviu, stamped, yotpo", "reviews of the app of that name"],
          ["shopify-product-reviews, woocommerce-reviews", "reviews of Shopify Product Reviews and WooCommerce"],
          ["trustpilot", "reviews of the store on Trustpilot"],
          ["matrixify-orders", "Matrixify, an app for Shopify"],
          ["wix-orders, wix-products", "Wix: Orders or Products, then Export"],
          ["vend-products", "Vend (Lightspeed): Products, then Export"],
          ["squarespace-orders, tiendanube-orders", "Squarespace, Tiendanube: Orders, then Export"],
          ["prestashop-orders", "PrestaShop: query of the SQL Manager, or an export module"],
          ["amazon-orders", "Amazon: Orders, then Order Reports"],
          ["shopify-customers, woocommerce-customers", "unsubscribers: customers who do not want emails"],
          ["klaviyo, mailchimp, email-consent", "unsubscribers: contacts who do not want emails"],
          ["etsy-orders, woocommerce-analytics-orders", "refused, because they have no email addresses"],
        ],
      },
      "If the order of day and month in dates is ambiguous, nothing is sent until --date-format specifies it.",
      "Most exports lack product URLs. --store-url links to a search of your shop, --product-url builds them from a pattern, and --set provides a value for rows that lack one.",
      {
        lines: [
          "starpost orders import orders_export.csv --store-url https://shop.example",
          "starpost orders import export.csv --layout woocommerce --set currency_iso=EUR",
        ],
      },
    ],
  },
  mapping: {
    summary: "importing files with other column names",
    blocks: [
      "Columns are matched by name, ignoring case, spaces, _, and -. To use other columns, repeat --map <field>=<column>. The column name may contain =.",
      { lines: ["starpost orders import orders.csv --map order_id='Order number' --map email=Mail"] },
      "`starpost orders map` proposes a mapping, asks about columns that it cannot detect, and writes a mapping file for --mapping. Flags override the mapping file.",
      {
        lines: [
          "starpost orders map orders.csv --out mapping.json",
          "starpost orders import orders.csv --mapping mapping.json",
        ],
      },
      "--set provides a value for rows that lack one. --empty defines how empty cells are handled: keep preserves the stored value, clear deletes it, and error rejects the row.",
      "To preview the result, run `starpost orders plan`.",
    ],
  },
  output: {
    summary: "output formats, columns, and using jq",
    blocks: [
      "Standard output carries data; standard error carries messages.",
      {
        rows: [
          ["--format table", "for people; fits the width of the terminal"],
          ["--json, --format json", "one JSON document"],
          ["--format ndjson", "one JSON document per line, printed as results arrive"],
          ["--format csv", "CSV with a header"],
          ["--columns a,b", "columns of table or CSV output; implies --details"],
          ["--redact", "hide email addresses and names of people"],
          ["--quiet", "print only errors to standard error"],
          ["--verbose", "trace every HTTP request on standard error, without secrets"],
        ],
      },
      "Lists are read page by page and printed as results arrive. --limit sets the maximum number of results.",
      "To select fields of JSON output, use --jq, which understands the language of jq 1.8 and implies --json. Strings are printed without quotes:",
      {
        lines: [
          "starpost products list --jq '.[].external_id'",
          "starpost products list --format ndjson --jq 'select(.price > 20) | .name'",
          "starpost reviews list --jq '[.[].score] | add / length'",
          "starpost imports list --jq '.[] | select(.state == \"interrupted\") | .import_id'",
          "starpost auth status --json | jq -e .signed_in",
        ],
      },
    ],
  },
  profiles: {
    summary: "choosing the account or database to use",
    blocks: [
      "A profile is a named account or database. The profile `local` is the embedded database and needs no setup. `starpost auth login` and `starpost profile add` create others.",
      {
        lines: [
          "starpost auth login --base-url https://api.example.com --app-key KEY --profile shop",
          "starpost auth status",
          "starpost orders import orders.csv --profile local",
        ],
      },
      "--profile selects the profile of one command. Otherwise, the environment applies: STARPOST_BASE_URL, STARPOST_APP_KEY, and STARPOST_SECRET together (the profile `env`), or STARPOST_PROFILE. Otherwise, the current profile is used.",
      "A profile can be marked as live. Commands that write to a live profile show its name and address, and commands that delete or overwrite ask for confirmation. --yes skips the prompt. If a prompt is not possible and --yes is not set, the command exits with 2.",
      "Secrets are read from a prompt, or from standard input with --secret-stdin. They are never passed as flags.",
    ],
  },
  importing: {
    summary: "planning, running, resuming, and undoing imports",
    blocks: [
      {
        rows: [
          ["starpost orders plan", "show what an import would do: rows, calls, duration, rejects, emails"],
          ["--dry-run", "check only the files; faster than a plan"],
          ["starpost orders import", "import the files and print a summary"],
          ["starpost imports list", "list all runs; `imports show` shows one"],
          [
            "starpost imports resume",
            "continue an unfinished run without losing rows or sending them twice unnecessarily",
          ],
          ["starpost imports verify", "read the records back and report missing ones"],
          ["starpost imports undo", "revert a run as far as the API allows"],
          ["starpost imports purge", "delete the files of old runs"],
        ],
      },
      "Rejected rows are written unchanged to a file, followed by the columns _line, _column, _code, and _reason. Correct the rows and import that file; those four columns are ignored. --rejects sets the path, and --max-errors stops a run early.",
      "Ctrl-C stops after the requests in flight. A second Ctrl-C stops immediately.",
      "Imported orders do not trigger review requests unless --send-mail is set.",
      {
        lines: [
          "starpost orders plan orders.csv --out plan.json",
          "starpost imports apply plan.json",
          "starpost orders import orders.csv --rejects rejected.csv --max-errors 5%",
        ],
      },
    ],
  },
  rates: {
    summary: "limiting the rate of requests",
    blocks: [
      "Requests to a remote service are limited to 5 per second by default; requests to a local profile are not limited. Commands that make many requests accept these flags:",
      {
        rows: [
          ["--rate <n>", "requests per second; 0 disables the limit"],
          ["--rate-share <n%>", "percentage of the rate to use, leaving the rest to other processes"],
          ["--concurrency <n>", "maximum number of concurrent requests"],
          ["--batch-size <n>", "number of items per request"],
        ],
      },
      "Processes on one machine share the rate of an account. If the service returns status 429, requests are retried after the delay that its headers specify.",
      {
        lines: [
          "starpost orders import orders.csv --rate 2 --concurrency 1",
          "starpost products import products.csv --rate-share 50%",
        ],
      },
    ],
  },
};

export const topics: Readonly<Record<string, Topic>> = Object.fromEntries(
  Object.entries(texts).map(([name, text]) => [name, { name, ...text }]),
);
