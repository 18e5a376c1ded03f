import { Button } from "@ui/button";
import type { ReactNode } from "react";
import { Link } from "react-router";
import { paths } from "@/lib/paths";
import { pageTitle } from "@/lib/product";

interface MissingNoticeProps {
  glyph: ReactNode;
  /** Title of the document. */
  page: string;
  title: string;
  text: string;
  /** Label of the button that leads to the dashboard. */
  action?: string;
}

/** Shown for a page whose subject does not exist: what is missing, the possible reason, and a link to the outfits. */
export function MissingNotice({
  glyph,
  page,
  title,
  text,
  action = "Explore Outfits",
}: MissingNoticeProps) {
  return (
    <section className="mx-auto flex min-h-[44vh] max-w-md flex-col items-center justify-center gap-4 text-center">
      <title>{pageTitle(page)}</title>
      <span aria-hidden="true" className="text-ink-soft [&_svg]:size-8">
        {glyph}
      </span>
      <h1 className="font-serif text-title">{title}</h1>
      <p className="max-w-full text-ink-soft [overflow-wrap:anywhere]">{text}</p>
      <Button variant="primary" asChild className="mt-3">
        <Link to={paths.explore}>{action}</Link>
      </Button>
    </section>
  );
}
