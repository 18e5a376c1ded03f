/** Why something may be reported, as the database knows it, in the words of the form and of the queue. */
export const reportReasons = {
  rights: "It shows a picture or words of somebody else",
  person: "It shows a person who has not agreed",
  nudity: "Nudity",
  hatred: "Insults or hatred",
  spam: "Advertising, or it pretends to be somebody",
  other: "Something else",
} as const;

export type ReportReason = keyof typeof reportReasons;

export function describeReason(reason: string): string {
  return reason in reportReasons ? reportReasons[reason as ReportReason] : reason;
}
