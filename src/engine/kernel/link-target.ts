/** What the link of a mail is about, and what following it does where that is still to be done. */
export interface LinkTarget {
  readonly state: "ready" | "done";
  /** What a person knows it by. */
  readonly about: string;
  /** The review's title, the question, or the kind of mails. */
  readonly detail: string;
  readonly follow: () => Promise<void>;
}
