import { expect, test } from "vitest";
import { nameAsBefore, nameReview } from "../../../../src/records/reviews/review-index.ts";

const review = { sku: "teapot", title: "Pours", content: "It pours.", score: 5, created_at: "2026-03-01" };

test("a review has the same name however the address of its author is spelled", () => {
  const spellings = ["Ann@Bücher.example", "ann@xn--bcher-kva.example", "ann@ｂücher.example"];
  expect(new Set(spellings.map((email) => nameReview({ ...review, email }).dated)).size).toBe(1);
});

test("a review has the name that earlier versions recorded, too", () => {
  expect(nameAsBefore({ ...review, email: "Ann@Mail.example" })).toEqual([]);
  const [earlier] = nameAsBefore({ ...review, email: "Ann@Bücher.example" });
  // As commit 65d32e56 named it.
  expect(earlier?.undated).toBe("QeaT7lgO0Y222kkowFIRX8_ipWZ");
});
