import { usageError } from "../../../config/user-error.ts";
import { command } from "../../program/command.ts";
import { readWholeNumber } from "../../program/flag-values.ts";
import { listOperations, operationNames, requireMethod } from "./operations.ts";
import { methods } from "./target.ts";

export default command({
  summary: "Call an operation of the API by name, or any method and path",
  calls: "any",
  argument: "[target] [path]",
  argumentHelp: {
    target: {
      description: `operation name (see --list), or ${methods.join(", ")}`,
      values: [...operationNames, ...methods],
    },
    path: { description: "path; {app_key} and {store_id} are replaced with the profile's account" },
  },
  examples: [
    "starpost api --list",
    "starpost api reviews.widget teapot --sort rating --json",
    "starpost api GET /apps/{app_key}/purchases --field count=5",
    "starpost api GET /apps/{app_key}/purchases --paginate --limit 1000 --json",
    "starpost api POST /v1/apps/{app_key}/products_groups --field group_name=Teas",
    "starpost api GET /openapi.json --no-auth",
  ],
  flags: {
    list: { description: "list all operations with their method, path, and summary" },
    field: {
      value: "<name=value>",
      read: String,
      isRepeatable: true,
      description:
        "field of the query (GET) or the body; true, false, null, and numbers are sent as JSON; @file reads a file, @- standard input; a[b]=c is a nested field, a[]=x an array element",
    },
    "raw-field": {
      value: "<name=value>",
      read: String,
      isRepeatable: true,
      description: "field whose value is always sent as a string",
    },
    input: {
      value: "<file>",
      read: String,
      description: "send this file as the body (- for standard input); fields go to the query",
    },
    header: {
      value: "<name:value>",
      read: String,
      isRepeatable: true,
      description: "additional request header; credentials are added automatically",
    },
    paginate: { description: "read all pages of a list and print its elements" },
    limit: {
      value: "<n>",
      description: "with --paginate, maximum number of elements (default: all)",
      read: readWholeNumber,
    },
    include: { description: "print the status and headers before the body" },
    "no-auth": { description: "send no credentials" },
  },
  notes: [
    "An operation has a flag for each field and its own help: `starpost api <operation> --help`. Fields in the path may also be given as arguments.",
    "A path may omit the leading slash and may include a query. A full URL must be within the profile's service.",
    "For a method and path, the body is printed as received. If the service rejects the call, its response is still printed, and the exit status reports the error.",
  ],
  run: async (context, { arguments: [target, path], flags }) => {
    if (flags.list) return listOperations();
    const { runApi } = await import("./run.ts");
    const method = requireMethod(target);
    if (path === undefined) {
      throw usageError("missing path", "For example: starpost api GET /apps/{app_key}/purchases");
    }
    return runApi(context, { method, path, ...flags });
  },
  render: ["operation", "method", "path", "summary"],
});
