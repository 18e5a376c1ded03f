import { Button } from "@ui/button";
import { paths } from "@/lib/paths";
import { pageTitle } from "@/lib/product";

interface Explanation {
  title: string;
  text: string;
}

function explain(error: unknown): Explanation {
  if (isStaleChunk(error)) {
    return {
      title: "There is a new version of this site.",
      text: "Load the page again to get it. Nothing of yours is lost.",
    };
  }
  return {
    title: "Something broke on this page.",
    text: "It is our fault. What you saved is safe; loading the page again usually helps.",
  };
}

/** Whether a lazily loaded file no longer exists: after a deployment, open pages request files of the old build. */
function isStaleChunk(error: unknown): boolean {
  return (
    error instanceof TypeError &&
    /dynamically imported module|importing a module/i.test(error.message)
  );
}

/** Shown in place of a page that failed. */
export function RouteError({ error }: { error: unknown }) {
  const { title, text } = explain(error);
  return (
    <div
      role="alert"
      className="mx-auto flex min-h-[70dvh] max-w-md flex-col items-center justify-center gap-4 px-6 text-center text-ink"
    >
      <title>{pageTitle(title)}</title>
      <h1 className="font-serif text-title">{title}</h1>
      <p className="text-ink-soft">{text}</p>
      <div className="mt-3 flex flex-wrap justify-center gap-3">
        <Button variant="primary" onClick={() => window.location.reload()}>
          Load again
        </Button>
        <Button asChild>
          {/* Not a <Link>: a full page load also resets broken state in memory. */}
          <a href={paths.explore}>Go Home</a>
        </Button>
      </div>
    </div>
  );
}
