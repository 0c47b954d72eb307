import { operations } from "../../contract/index.ts";
import { describeOperation, type Place } from "./operation.ts";
import { headers, refusalResponses, refusalSchemas } from "./error-responses.ts";
import { accountParameters, securitySchemes } from "./request.ts";
import { createSchemaBook, type Fields, type SchemaBook } from "./schema-registry.ts";

/** What the contract does not know about itself. */
export interface About {
  /** Of the product. */
  readonly version: string;
  /** Where the service is reached; `/` where absent, which is where the document is. */
  readonly publicUrl?: string | undefined;
}

const description = `A store's products, orders, reviews, questions and answers, and the mails that ask for reviews.

- A path whose last segment is fixed is the same with \`.json\` behind it, and every path with a \`/\`.
- A list in a query is repeated as \`name[]=\`; an empty value counts as not given.
- Operations with \`x-alias-of\` are the same call at another path. Those with \`x-extension\` are this product's
  (\`own\`), or known from services of this kind (\`practice\`).
- \`x-auth\` says who may call: \`open\` anyone, \`account\` anyone who names an app key, \`utoken\` and \`core\` who has a
  token of the account. \`x-effect\` says what a call does: \`read\`, \`repeatable\`, or \`once\`, which is not to be repeated.
- \`x-batch\` says how many elements of \`field\` a call should carry, and may.`;

/** Describes the whole service in OpenAPI 3.1. */
export function createDocument({ version, publicUrl }: About): Fields {
  const book = createSchemaBook();
  const paths = describePaths(book);
  const tags = [...new Set([...operations.keys()].map((name) => name.split(".", 1)[0]))];
  return {
    openapi: "3.1.0",
    info: { title: "starpost", version, description, license: { name: "MIT", identifier: "MIT" } },
    servers: [{ url: publicUrl ?? "/" }],
    tags: tags.map((name) => ({ name })),
    paths,
    components: {
      schemas: { ...book.named(), ...refusalSchemas },
      responses: refusalResponses(operations.values()),
      parameters: accountParameters(),
      headers,
      securitySchemes,
    },
  };
}

function describePaths(book: SchemaBook): Readonly<Record<string, Fields>> {
  const paths: Record<string, Fields> = {};
  for (const place of listPlaces()) {
    const item = (paths[place.path] ??= {});
    item[place.endpoint.method.toLowerCase()] = describeOperation(place, book);
  }
  return paths;
}

function listPlaces(): readonly Place[] {
  return [...operations].flatMap(([name, endpoint]) => {
    const { paths, htmlPaths = [] } = endpoint;
    const own = paths.map((path, at): Place => ({ name, endpoint, path, at, media: "json" }));
    if (endpoint.alsoGet)
      own.push({
        name,
        endpoint: { ...endpoint, method: "GET" },
        path: paths[0],
        at: own.length,
        media: "json",
      });
    return own.concat(htmlPaths.map((path, at) => ({ name, endpoint, path, at, media: "html" })));
  });
}
