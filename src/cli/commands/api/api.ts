import { silent } from "../../../terminal/view.ts";
import { command } from "../../program/command.ts";
import { readWholeNumber } from "../../program/flag-values.ts";

export const api = command({
  name: "api",
  summary: "Make any call of the API with the profile's credentials, and print what is answered",
  argument: "<method> <path>",
  examples: [
    "starpost api GET /apps/{app_key}/purchases --field count=5",
    "starpost api GET /apps/{app_key}/purchases --paginate --limit 1000 --json",
    "starpost api POST /v1/apps/{app_key}/products_groups --field group_name=Teas",
    "starpost api GET /openapi.json --no-auth",
  ],
  flags: {
    field: {
      value: "<name=value>",
      isRepeatable: true,
      description:
        "a field of the query (GET) or of the body: true, false, null and numbers are JSON, @file reads a file and @- standard input; a[b]=c is a field in another, a[]=x a list",
    },
    "raw-field": {
      value: "<name=value>",
      isRepeatable: true,
      description: "a field whose value is text, whatever it looks like",
    },
    input: {
      value: "<file>",
      description: "send this file as the body, - is standard input; fields then go to the query",
    },
    header: {
      value: "<name:value>",
      isRepeatable: true,
      description: "send a header as well; credentials are put in by themselves",
    },
    paginate: { description: "read a list to its end, page by page, and print its elements" },
    limit: {
      value: "<n>",
      description: "with --paginate, stop after so many elements",
      read: readWholeNumber,
    },
    include: { description: "print the status and the headers before the body" },
    "no-auth": { description: "send no credentials" },
  },
  notes: [
    "{app_key} and {store_id} in the path stand for the profile's account. A path may begin without a slash and may have a query; of whole addresses only the profile's own are called.",
    "The body is printed as it came. Where the service refuses, its answer is printed all the same, and the exit status says that it did.",
  ],
  run: async (context, { arguments: [method = "", path = ""], flags }) => {
    const { runApi } = await import("./run.ts");
    await runApi(context, {
      method,
      path,
      fields: flags.field ?? [],
      rawFields: flags["raw-field"] ?? [],
      input: flags.input,
      headers: flags.header ?? [],
      isPaginated: flags.paginate === true,
      limit: flags.limit,
      isIncluded: flags.include === true,
      isAnonymous: flags["no-auth"] === true,
    });
  },
  render: () => silent(),
});
