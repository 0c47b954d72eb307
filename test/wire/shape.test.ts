import { expect, it } from "vitest";
import { differences, int, listOf, nullable, optional, text, timestamp } from "../support/shape.ts";

const shape = {
  id: int,
  name: text,
  at: timestamp,
  bio: nullable(text),
  note: optional(text),
  tags: listOf(text),
  pair: [int, int],
  kind: "pot",
};
const body = {
  id: 1,
  name: "",
  at: "2026-03-15T12:00:00.000Z",
  bio: null,
  tags: ["a"],
  pair: [0, 1],
  kind: "pot",
};

it("finds no difference in a body of the expected shape", () => {
  expect(differences(body, shape)).toEqual([]);
  expect(differences({ ...body, note: "n", bio: "b", tags: [] }, shape)).toEqual([]);
});

it.each([
  [{ id: undefined }, "body.id is undefined and not an integer"],
  [{ id: 1.5 }, "body.id is 1.5 and not an integer"],
  [{ id: "1" }, 'body.id is "1" and not an integer'],
  [{ name: null }, "body.name is null and not a string"],
  [{ at: "2026-03-15" }, 'body.at is "2026-03-15" and not an ISO 8601 timestamp in UTC'],
  [{ note: null }, "body.note is null and not a string"],
  [{ tags: ["a", 1] }, "body.tags[1] is 1 and not a string"],
  [{ tags: { 0: "a" } }, 'body.tags is {"0":"a"} and not a list'],
  [{ pair: [0] }, "body.pair has 1 elements and not 2"],
  [{ kind: "cup" }, 'body.kind is "cup" and not "pot"'],
  [{ more: 1 }, "body.more is unexpected"],
])("finds the invalid value of %j", (fields, difference) => {
  expect(differences({ ...body, ...fields }, shape)).toEqual([difference]);
});

it("finds missing fields", () => {
  const { name: _name, ...rest } = body;
  expect(differences(rest, shape)).toEqual(["body.name is missing"]);
  expect(differences([body], shape)).toEqual([`body is ${JSON.stringify([body])} and not an object`]);
});
