import {
  type ReviewFormField,
  reviewFormFields,
  reviewFormLimits,
  type ReviewRequest,
} from "../../../contract/index.ts";

type Given = Readonly<Partial<Record<ReviewFormField, string>>>;

/** A review as its writer means it. */
export interface ReviewFields {
  readonly score: number;
  readonly title: string;
  readonly content: string;
  readonly display_name: string;
}

/** Fields of a form as they were sent, and the review that they are, or what is wrong with them. */
export interface ReadForm extends Pick<ReviewRequest, "fields" | "problems"> {
  readonly read?: ReviewFields;
}

const words: Readonly<Record<ReviewFormField, string>> = {
  score: "Choose how many stars you give, from 1 to 5.",
  title: "Write a title: your review in a few words.",
  content: "Write your review.",
  display_name: "Write the name to show with your review.",
};

const names: Readonly<Record<keyof typeof reviewFormLimits, string>> = {
  title: "The title",
  content: "The review",
  display_name: "The name",
};

/**
 * Reads what was typed on the page.
 * Assumed: all four fields are needed, as by the calls that create reviews; spaces around a text are left out; a title
 * and a name are one line, and a browser's line ends are one character, as it counts them.
 */
export function readReviewForm(given: Given): ReadForm {
  const fields = {
    score: given.score ?? "",
    title: given.title ?? "",
    content: (given.content ?? "").replaceAll(/\r\n?/g, "\n"),
    display_name: given.display_name ?? "",
  };
  const read = {
    score: /^[1-5]$/.test(fields.score) ? Number(fields.score) : Number.NaN,
    title: asLine(fields.title),
    content: fields.content.trim(),
    display_name: asLine(fields.display_name),
  };
  const problems = reviewFormFields.flatMap((field) => {
    const error = field === "score" ? findScoreFault(read.score) : findTextFault(field, read[field]);
    return error === undefined ? [] : [{ field, error }];
  });
  return problems.length > 0 ? { fields, problems } : { fields, problems, read };
}

function asLine(text: string): string {
  return text.replaceAll(/\s+/gu, " ").trim();
}

function findScoreFault(score: number): string | undefined {
  return Number.isNaN(score) ? words.score : undefined;
}

function findTextFault(field: keyof typeof reviewFormLimits, text: string): string | undefined {
  // What shows nothing is nothing: also what has no width, and marks that only turn what follows them.
  if (!/[^\s\p{C}]/u.test(text)) return words[field];
  if (!text.isWellFormed() || text.includes("\u0000")) {
    return `${names[field]} holds a character that cannot be kept; write it anew.`;
  }
  const limit = reviewFormLimits[field];
  if (text.length <= limit) return undefined;
  return `${names[field]} is longer than ${limit.toLocaleString("en-GB")} characters; it has ${text.length.toLocaleString("en-GB")}.`;
}
