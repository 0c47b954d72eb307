import { filteredList } from "../operations/filtered-list.ts";

export default filteredList({
  operation: "questions.list",
  search: "questions.search",
  argumentFlag: "product",
  states: ["public", "pending", "hidden"],
  summary: "List the questions about all products, or about one",
  descriptions: {
    email: "only questions of this person",
    product_id: "only questions about this product",
    search: 'only questions in which, or in whose answers, all of these words occur, or a "quoted phrase"',
    unanswered: "only questions without an answer",
  },
  examples: [
    "starpost questions list --unanswered",
    "starpost questions list --since 7d --product teapot",
    "starpost questions list --state pending",
    "starpost questions list teapot",
  ],
});
