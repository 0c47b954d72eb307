import { expect, test } from "vitest";
import { runExport } from "../../../src/export/export.ts";
import { unsubscriberExporter } from "../../../src/records/unsubscribers/export.ts";
import type { Service } from "../../../src/service/service.ts";

/** Exports lists, of which each read returns the next one, in pages of two addresses. */
async function exportLists(...reads: readonly (readonly string[])[]) {
  let read = -1;
  const list = async ({ page }: { readonly page: number }) => {
    if (page === 1) read += 1;
    const emails = (reads[read] ?? []).slice((page - 1) * 2, page * 2);
    return { unsubscribers: emails.map((user_email) => ({ id: Number(user_email), user_email, email_type_id: 1 })) };
  };
  const notices: string[] = [];
  let text = "";
  const result = await runExport(
    {
      exporter: unsubscriberExporter,
      columns: ["email"],
      query: {},
      format: "csv",
      csv: { toText: (value) => value, hasByteOrderMark: false },
    },
    {
      service: { unsubscribers: { list } } as unknown as Service,
      sink: {
        write: async (part) => {
          text += part;
          return true;
        },
        finish: () => {},
        abandon: () => {},
      },
      stop: new AbortController().signal,
      abort: new AbortController().signal,
      report: (event) => void (event.type === "notice" && notices.push(event.message)),
    },
  );
  return { ...result, emails: text.trim().split("\n").slice(1), notices };
}

test("a list of two pages is read again until nothing new appears", async () => {
  // After the first page was read, 1 was deleted, so 3 moved to that page.
  const shifted = await exportLists(["1", "2", "4"], ["2", "3", "4"], ["2", "3", "4"]);
  expect(shifted).toMatchObject({ emails: ["1", "2", "3", "4"], pages: 6, notices: [] });
});

test("a list of one page is read once", async () => {
  expect(await exportLists(["1", "2"], ["3"])).toMatchObject({ emails: ["1", "2"], pages: 1 });
});
