import { recordKinds } from "../../../records/index.ts";

const moderation = {
  reviews: "Import, export, and moderate reviews",
  questions: "List, ask, and answer questions about products",
  images: "Add photos to reviews, and copy those of imported ones",
};

/** Record kinds, except those that another group lists. */
const records = Object.fromEntries(
  recordKinds.filter(({ name }) => !(name in moderation)).map(({ name }) => [name, `Import and export ${name}`]),
);

/** The nouns in the order of `starpost --help`, by group, with their summaries. */
export const nounGroups: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  "Import and export": {
    ...records,
    products: "Import, export, list, and promote products",
    orders: "Import, export, list, and create orders",
    coupons: "Import, export, list, issue, and delete coupon codes",
    unsubscribers: "Manage addresses that have unsubscribed from emails",
    groups: "Manage groups of products that share reviews",
    imports: "Show, resume, verify, undo, and purge import runs",
  },
  "Customer support": {
    ...moderation,
    customers: "Show, export, and erase what is stored about a customer",
  },
  "Email and shop pages": {
    mail: "Send, inspect, and configure review-request emails",
    webhooks: "Manage webhooks and view their deliveries",
    shop: "Show reviews on the pages of a shop, and check the pages",
  },
  Service: {
    serve: "Serve the embedded database over HTTP",
    api: "Call any operation of the API, by name or by path",
    account: "Manage accounts, their settings, features, and platform",
    database: "Show the state of a database, and distribute its tables",
    backup: "Create, verify, and restore backups of a database",
    "sealing-key": "Replace the key that encrypts the secrets in databases",
  },
  Setup: {
    demo: "Serve a sample shop with reviews, photos, and emails",
    init: "Set up an embedded database or sign in to a service",
    doctor: "Check the installation and suggest fixes",
    profile: "Manage profiles: named accounts and databases",
    auth: "Manage credentials and access tokens",
    alias: "Manage aliases: short names for commands",
    completion: "Generate shell completion scripts (bash, zsh, fish)",
    help: "Show help for a command or a topic",
  },
};

/** The summary of each noun, and of each group of verbs within a noun. */
export const nouns: Readonly<Record<string, string>> = {
  ...Object.assign({}, ...Object.values(nounGroups)),
  "account brand": "Show and change the design of emails and pages",
  "account messages": "List and change the texts of emails and pages",
  "mail rules": "List and change the rules that suppress emails",
  "reviews rules": "List, change, and test the rules that decide on new reviews",
  "mail campaign": "Send review requests to the customers of chosen orders",
  "mail dkim": "Create the key that signs emails, and compare it with DNS",
  "mail templates": "Edit and preview email templates",
};
