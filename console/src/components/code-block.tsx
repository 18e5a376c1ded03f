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
    <section aria-label={label} className="relative rounded-sm border border-line bg-canvas">
      <pre
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling area must be reachable by keyboard.
        tabIndex={0}
        className="max-h-80 overflow-auto py-2.5 pr-11 pl-3 font-mono text-label leading-4.5"
      >
        <Text multiline>{code}</Text>
      </pre>
      <span className="absolute top-1 right-1 rounded-sm bg-canvas">
        <CopyButton text={code} label={`Copy ${label}`} />
      </span>
    </section>
  );
}
