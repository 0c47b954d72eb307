import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { Homes } from "../support/starpost.ts";

const homes = new Homes();
afterAll(() => homes.remove());

const processes = 16;
const issue = ["coupons", "issue", "--action", "map_review"];

interface Coupon {
  readonly code: string;
  readonly issued_to: string | null;
}

test("16 processes at once get different codes, and none is lost", async () => {
  const home = homes.open();
  const codes = Array.from({ length: processes - 1 }, (_, nth) => `CODE-${nth}`);
  const file = join(home.folder, "codes.csv");
  writeFileSync(file, ["code", ...codes].join("\n"));
  await home.json(["coupons", "import", file, "--action", "map_review"]);
  const results = await Promise.all(
    Array.from({ length: processes }, (_, nth) =>
      // Two share an idempotency key, and thus a code.
      home.runProcess([
        ...issue,
        ...(nth < 2 ? ["--to", "twice@mail.example", "--idempotency-key", "twice"] : ["--to", `c${nth}@mail.example`]),
        "--json",
      ]),
    ),
  );
  expect(results.map(({ exitCode }) => exitCode)).toEqual(results.map(() => 0));
  const issued = results.map(({ stdout }) => (JSON.parse(stdout) as Coupon).code);
  expect(issued[0]).toBe(issued[1]);
  expect(issued.slice(1).toSorted()).toEqual(codes.toSorted());
  const { data: listed } = await home.json<readonly Coupon[]>(["coupons", "list"]);
  const recipients = listed.map(({ issued_to }) => issued_to);
  expect(new Set(recipients).size).toBe(codes.length);
  expect(recipients).not.toContain(null);

  const none = await home.json([...issue, "--to", "ann@mail.example"]);
  expect(none.exitCode).toBe(1);
  const doctor = await home.json<{ readonly checks: readonly { readonly name: string; readonly status: string }[] }>([
    "doctor",
  ]);
  expect(doctor.data.checks).toContainEqual(expect.objectContaining({ name: "coupons", status: "warning" }));
  await home.json(["customers", "erase", "twice@mail.example", "--yes"]);
  const { stdout } = await home.json(["coupons", "list"]);
  expect(stdout).toContain(issued[0]);
  expect(stdout).not.toContain("twice@mail.example");
});
