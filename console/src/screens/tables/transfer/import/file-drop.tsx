import { Button } from "@ui/button";
import { cn } from "@ui/cn";
import { FileSpreadsheet } from "lucide-react";
import { useRef, useState } from "react";

interface FileDropProps {
  error: string | null;
  onChoose: (file: File) => void;
}

/** A button to choose a file, and an area to drop one. */
export function FileDrop({ error, onChoose }: FileDropProps) {
  const input = useRef<HTMLInputElement>(null);
  const [isOver, setOver] = useState(false);
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: dropping is an addition; the button works by keyboard.
    <div
      className={cn(
        "grid justify-items-center gap-3 rounded-md border border-line-strong/50 border-dashed px-4 py-10 text-center text-caption",
        isOver && "bg-selected",
      )}
      onDragOver={(event) => {
        event.preventDefault();
        setOver(true);
      }}
      onDragLeave={() => setOver(false)}
      onDrop={(event) => {
        event.preventDefault();
        setOver(false);
        const file = event.dataTransfer.files[0];
        if (file !== undefined) onChoose(file);
      }}
    >
      <FileSpreadsheet aria-hidden="true" className="size-6 text-ink-soft" strokeWidth={1.5} />
      <p className="text-ink-soft">
        A CSV file of any size. It is streamed, and all of its rows are there afterwards or none.
      </p>
      <input
        ref={input}
        type="file"
        aria-label="CSV file"
        accept=".csv,.tsv,.txt,text/csv,text/tab-separated-values"
        className="sr-only"
        tabIndex={-1}
        onChange={(event) => {
          const file = event.target.files?.[0];
          // Lets the same file be chosen again after it was edited.
          event.target.value = "";
          if (file !== undefined) onChoose(file);
        }}
      />
      <Button size="dense" variant="primary" onClick={() => input.current?.click()}>
        Choose a file
      </Button>
      {error !== null && (
        <p role="alert" className="text-danger">
          {error}
        </p>
      )}
    </div>
  );
}
