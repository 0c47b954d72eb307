import { expect, test } from "vitest";
import { addressPattern } from "../../../src/contract/customers/address-pattern.ts";

const finds = (text: string) => addressPattern(["ada.l@mail.example"]).test(text);

test.each([
  "ada.l@mail.example",
  "Write to Ada.L@Mail.Example.",
  "<ada.l@mail.example>",
  "'ada.l@mail.example'",
  "mailto:ada.l@mail.example?subject=x",
  "email=ada.l%40mail.example&x=1",
  "redirect=%2Fu%3Femail%3Dada.l%40mail.example",
  '{"text":"Hello,\\nada.l@mail.example"}',
  "ada.l@mail.example, bo@mail.example",
])("an address is found in %j", (text) => {
  expect(finds(text)).toBe(true);
});

test.each([
  "yamada.l@mail.example",
  "x+ada.l@mail.example",
  "x.ada.l@mail.example",
  "x_ada.l@mail.example",
  "x-ada.l@mail.example",
  "éada.l@mail.example",
  "x%2Bada.l%40mail.example",
  "ada.l@mail.example.org",
  "ada.l@mail.example-shop.org",
  "ada.l@mail.examples",
  "adaxl@mail.example",
])("an address is not found within another one: %j", (text) => {
  expect(finds(text)).toBe(false);
});

test.each([
  "o'brien+x&y@mail.example",
  "o%27brien%2Bx%26y%40mail.example",
  "o'brien%2Bx%26y%40mail.example",
  "O%27Brien%2bX%26Y%40mail.example",
  "o&#39;brien+x&amp;y@mail.example",
])("an address is found in the form %j", (form) => {
  expect(`<a href="?to=${form}&x=1">`.search(addressPattern(["o'brien+x&y@mail.example"]))).toBe(13);
});
