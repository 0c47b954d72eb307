import {
  type ReviewFormField,
  reviewFormFields,
  reviewFormLimits,
  type ReviewRequest,
} from "../../../contract/index.ts";

type FormInput = Readonly<Partial<Record<ReviewFormField, string>>>;

/** A valid review from the form. */
export interface ReviewFields {
  readonly score: number;
  readonly title: string;
  readonly content: string;
  readonly display_name: string;
}

/** A submitted form: the fields as submitted, and either the parsed review or errors. */
export interface ParsedForm extends Pick<ReviewRequest, "fields" | "problems"> {
  /** Absent if there are problems. */
  readonly review?: ReviewFields;
}

const requiredMessages: Readonly<Record<ReviewFormField, string>> = {
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
 * Parses and validates the submitted form.
 * Assumed: all four fields are required, as in the operations that create reviews; texts are trimmed; white space in
 * titles and names is collapsed; line breaks count as one character, as in browsers.
 */
export function parseReviewForm(input: FormInput): ParsedForm {
  const fields = {
    score: input.score ?? "",
    title: input.title ?? "",
    content: (input.content ?? "").replaceAll(/\r\n?/g, "\n"),
    display_name: input.display_name ?? "",
  };
  const review = {
    score: /^[1-5]$/.test(fields.score) ? Number(fields.score) : Number.NaN,
    title: collapseSpaces(fields.title),
    content: fields.content.trim(),
    display_name: collapseSpaces(fields.display_name),
  };
  const problems = reviewFormFields.flatMap((field) => {
    const error = field === "score" ? validateScore(review.score) : validateText(field, review[field]);
    return error === undefined ? [] : [{ field, error }];
  });
  return problems.length > 0 ? { fields, problems } : { fields, problems, review };
}

function collapseSpaces(text: string): string {
  return text.replaceAll(/\s+/gu, " ").trim();
}

function validateScore(score: number): string | undefined {
  return Number.isNaN(score) ? requiredMessages.score : undefined;
}

function validateText(field: keyof typeof reviewFormLimits, text: string): string | undefined {
  // Text that consists only of invisible characters counts as empty.
  if (!/[^\s\p{C}]/u.test(text)) return requiredMessages[field];
  if (!text.isWellFormed() || text.includes("\u0000")) {
    return `${names[field]} contains a character that cannot be stored. Remove it and try again.`;
  }
  const limit = reviewFormLimits[field];
  if (text.length <= limit) return undefined;
  return `${names[field]} is longer than ${limit.toLocaleString("en-GB")} characters; it has ${text.length.toLocaleString("en-GB")}.`;
}
