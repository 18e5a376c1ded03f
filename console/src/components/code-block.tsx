import { CopyButton } from "@/components/copy-button";
import { Text } from "@/components/text";

interface CodeBlockProps {
  code: string;
  /** Accessible name, for example "SQL of the change". */
  label: string;
}

/** SQL, a shell command or code, to be read and copied. */
export function CodeBlock({ code, label }: CodeBlockProps) {
  return (
    <section
      aria-label={label}
      className="grid max-w-full grid-cols-[minmax(0,1fr)_auto] rounded-sm border border-line bg-canvas text-left"
    >
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
        tabIndex={0}
        className="max-h-80 overflow-auto whitespace-pre-wrap px-3 py-2.5 font-mono text-label leading-4.5 [overflow-wrap:anywhere]"
      >
        <Text multiline>{code}</Text>
      </pre>
      {/* The button has a column of its own, because a long line would otherwise run underneath it. */}
      <span className="pt-1 pr-1">
        <CopyButton text={code} label={`Copy ${label}`} />
      </span>
    </section>
  );
}
