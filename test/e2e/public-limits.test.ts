import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { Homes, remoteEnv } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

/** More than any limit of calls without a token allows at once, for one client and one recipient. */
const reviews = 25;

test("an import into a server with limits on public calls is not slowed", async () => {
  const server = await homes.open().serve(["--public-url", "https://reviews.example"]);
  const home = homes.open(remoteEnv(server));
  const path = join(home.folder, "reviews.csv");
  const rows = Array.from(
    { length: reviews },
    (_, at) => `true,Good,Text ${at},5,2018-08-15,teapot,Ann,ann@mail.example,\n`,
  );
  const header =
    "published,review_title,review_content,review_score,date,product_id,display_name,email,comment_content\n";
  writeFileSync(path, header + rows.join(""));
  const { exitCode, data } = await home.json([
    "reviews",
    "import",
    path,
    "--product-url",
    "https://shop.example/{product_id}",
    "--rate",
    "0",
  ]);
  expect([exitCode, data]).toMatchObject([0, { rows: { accepted: reviews } }]);
  await server.stop();
  const log = String((await server.process).stderr).split("\n");
  const statuses = log.flatMap((line) => /"status":(\d+)/.exec(line)?.[1] ?? []);
  expect([statuses.filter((status) => status === "200").length >= reviews, statuses.includes("429")]).toEqual([
    true,
    false,
  ]);
});
