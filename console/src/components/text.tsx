import { Fragment, memo } from "react";
import { visibleParts } from "@/lib/visible-text";

interface TextProps {
  /** Text from outside of the console: a cell, a name, an error, a log line. */
  children: string;
  /** Keeps tabs and line feeds, for texts that are shown in several lines. */
  multiline?: boolean;
  /** For lists of many texts, which take longer to lay out when each has a further element around it. */
  className?: string;
}

/**
 * Every text from the database is shown by this component. Control and bidirectional characters become visible signs, and the
 * direction of the text cannot change that of its surroundings.
 */
export const Text = memo(function Text({ children, multiline = false, className }: TextProps) {
  const parts = visibleParts(children, multiline);
  const isPlain = parts.length === 0 || (parts.length === 1 && parts[0]?.sign === undefined);
  if (isPlain) return <bdi className={className}>{children}</bdi>;
  // The position is a sufficient key, because a changed text is cut into other parts.
  return (
    <bdi className={className}>
      {parts.map((part, index) =>
        part.sign === undefined ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity beside their position.
          <Fragment key={index}>{part.text}</Fragment>
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity beside their position.
          <span key={index} className="sign" title={part.sign}>
            {part.text}
          </span>
        ),
      )}
    </bdi>
  );
});

/** A sentence of the server, in which commands and names stand between backticks. */
export function MarkedText({ children }: { children: string }) {
  const parts = children.split("`");
  // A backtick without its pair is part of the text.
  if (parts.length % 2 === 0) return <Text multiline>{children}</Text>;
  return parts.map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: parts have no identity beside their position.
    <span key={index} className={index % 2 === 0 ? undefined : "font-mono text-[0.94em]"}>
      <Text multiline>{part}</Text>
    </span>
  ));
}
