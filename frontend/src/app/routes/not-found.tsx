import { Button } from "@ui/button";
import { Link, useLocation } from "react-router";
import { NewestOutfits } from "@/app/shell/newest-outfits";
import { paths } from "@/lib/paths";
import { pageTitle } from "@/lib/product";

/** 404 page. It shows the requested path, so that a typing mistake is noticed. */
export function NotFound() {
  const { pathname } = useLocation();
  return (
    <>
      <section className="mx-auto flex min-h-[44vh] max-w-xl flex-col items-center justify-center gap-4 text-center">
        <title>{pageTitle("Page not found")}</title>
        <p aria-hidden="true" className="font-serif text-[7rem] text-ink-soft italic leading-none">
          404
        </p>
        <h1 className="font-serif text-title">There is no page here.</h1>
        <p className="max-w-full text-ink-soft [overflow-wrap:anywhere]">
          Nothing is published at {decodePath(pathname)}.
        </p>
        <Button variant="primary" asChild className="mt-3">
          <Link to={paths.explore}>Explore Outfits</Link>
        </Button>
      </section>
      <NewestOutfits />
    </>
  );
}

function decodePath(path: string): string {
  try {
    return decodeURI(path);
  } catch {
    return path;
  }
}
